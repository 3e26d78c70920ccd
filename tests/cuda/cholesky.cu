// Cholesky factor of a positive-definite matrix, a column at a time, in place; single precision square roots.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
extern "C" __global__ void cholesky(float* a, int n) {
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (t == k) a[k * n + k] = sqrtf(a[k * n + k]);
        __syncthreads();
        if (t > k && t < n) a[t * n + k] = a[t * n + k] / a[k * n + k];
        __syncthreads();
        if (t > k && t < n) {
            for (int j = k + 1; j <= t; j++) a[t * n + j] = a[t * n + j] - a[t * n + k] * a[j * n + k];
        }
        __syncthreads();
    }
    if (t < n)
        for (int j = t + 1; j < n; j++) a[t * n + j] = 0.0f;
}
