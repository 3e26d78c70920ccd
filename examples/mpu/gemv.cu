// gemv of Table I: y = A x, a block a row: threads stride over the row, and their sums are added in
// shared memory.
// targets: 12.9:compute_75
// options: --fmad=false
const int T = 128;

extern "C" __global__ void __launch_bounds__(T)
gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int columns) {
    __shared__ float sums[T];
    const float* row = a + (size_t)blockIdx.x * columns;
    float sum = 0;
    for (int k = threadIdx.x; k < columns; k += T) sum += row[k] * x[k];
    sums[threadIdx.x] = sum;
    for (int half = T / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}
