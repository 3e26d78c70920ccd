// ttrans of Table I: the last two of three dimensions change places. A block turns a tile of 32x32
// round in shared memory, whose rows have one element more so that columns lie in different banks.
// targets: 12.9:compute_75
const int T = 32, ROWS = 8;

extern "C" __global__ void __launch_bounds__(T * ROWS)
ttrans(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
    __shared__ float tile[T][T + 1];
    size_t plane = (size_t)blockIdx.z * width * height;
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    for (int k = 0; k < T; k += ROWS) {
        if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[plane + (y + k) * width + x];
    }
    __syncthreads();
    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;
    for (int k = 0; k < T; k += ROWS) {
        if (x < height && y + k < width) out[plane + (y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
    }
}
