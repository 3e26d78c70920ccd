// blur of Table I: the mean of 3x3 pixels, edges repeated. A block brings its tile with a border of
// one pixel to shared memory.
// targets: 12.9:compute_75
// options: --fmad=false
const int W = 32, H = 8;

extern "C" __global__ void __launch_bounds__(W * H)
blur(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
    __shared__ float tile[H + 2][W + 2];
    int x0 = blockIdx.x * W - 1, y0 = blockIdx.y * H - 1;
    for (int k = threadIdx.y * W + threadIdx.x; k < (H + 2) * (W + 2); k += W * H) {
        int x = min(max(x0 + k % (W + 2), 0), width - 1);
        int y = min(max(y0 + k / (W + 2), 0), height - 1);
        tile[k / (W + 2)][k % (W + 2)] = in[y * width + x];
    }
    __syncthreads();
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 3; dy++) {
#pragma unroll
        for (int dx = 0; dx < 3; dx++) sum += tile[threadIdx.y + dy][threadIdx.x + dx];
    }
    out[y * width + x] = sum * (1.0f / 9.0f);
}
