// upsamp of Table I: a picture of twice the width and height, bilinear, edges repeated.
// targets: 12.9:compute_75
// options: --fmad=false
extern "C" __global__ void __launch_bounds__(256)
upsamp(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * width || y >= 2 * height) return;
    int cx = x / 2, cy = y / 2;
    int nx = min(max(cx + (x % 2 ? 1 : -1), 0), width - 1);
    int ny = min(max(cy + (y % 2 ? 1 : -1), 0), height - 1);
    float row = 0.75f * in[cy * width + cx] + 0.25f * in[cy * width + nx];
    float other = 0.75f * in[ny * width + cx] + 0.25f * in[ny * width + nx];
    out[(size_t)y * 2 * width + x] = 0.75f * row + 0.25f * other;
}
