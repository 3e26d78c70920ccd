// gemv of Table I: y = A x, columns of A one after another as BLAS has them. A thread makes an element of y;
// a block brings x to shared memory piece by piece.
// targets: 12.9:compute_75
// options: --fmad=false
const int T = 128;

extern "C" __global__ void __launch_bounds__(T)
gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int rows,
     int columns) {
    __shared__ float piece[T];
    int row = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < columns; first += T) {
        if (first + threadIdx.x < columns) piece[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        if (row < rows) {
            int count = min(T, columns - first);
            for (int k = 0; k < count; k++) sum += a[(size_t)(first + k) * rows + row] * piece[k];
        }
        __syncthreads();
    }
    if (row < rows) y[row] = sum;
}
