// maxp of Table I: the largest of 2x2 elements, of every channel.
// targets: 12.9:compute_75
extern "C" __global__ void __launch_bounds__(256)
maxp(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float2* rows = (const float2*)(in + (size_t)blockIdx.z * 4 * width * height);
    float2 above = rows[(size_t)2 * y * width + x], below = rows[((size_t)2 * y + 1) * width + x];
    out[((size_t)blockIdx.z * height + y) * width + x] =
        fmaxf(fmaxf(above.x, above.y), fmaxf(below.x, below.y));
}
