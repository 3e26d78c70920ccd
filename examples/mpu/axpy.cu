// axpy of Table I: y = a x + y, threads stride over the vectors by the size of the grid.
// targets: 12.9:compute_75
extern "C" __global__ void __launch_bounds__(256)
axpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        y[i] = a * x[i] + y[i];
    }
}
