// conv of Table I: a 3x3 convolution of several input channels to several output channels (NCHW, no
// padding), a block a tile of one output channel; tile and weights lie in shared memory.
// targets: 12.9:compute_75
// options: --fmad=false
const int W = 32, H = 8;

extern "C" __global__ void __launch_bounds__(W * H)
conv(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out,
     int channels, int width, int height) {
    __shared__ float tile[H + 2][W + 2];
    __shared__ float filter[9];
    int x0 = blockIdx.x * W, y0 = blockIdx.y * H, feature = blockIdx.z;
    int thread = threadIdx.y * W + threadIdx.x;
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    float sum = 0;
    for (int c = 0; c < channels; c++) {
        const float* plane = in + (size_t)c * width * height;
        for (int k = thread; k < (H + 2) * (W + 2); k += W * H) {
            int column = min(x0 + k % (W + 2), width - 1), row = min(y0 + k / (W + 2), height - 1);
            tile[k / (W + 2)][k % (W + 2)] = plane[row * width + column];
        }
        if (thread < 9) filter[thread] = weights[(feature * channels + c) * 9 + thread];
        __syncthreads();
#pragma unroll
        for (int dy = 0; dy < 3; dy++) {
#pragma unroll
            for (int dx = 0; dx < 3; dx++) {
                sum += filter[dy * 3 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
            }
        }
        __syncthreads();
    }
    if (x < width - 2 && y < height - 2) {
        out[((size_t)feature * (height - 2) + y) * (width - 2) + x] = sum;
    }
}
