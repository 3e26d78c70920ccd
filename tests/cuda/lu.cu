// LU decomposition with partial pivoting of one matrix a block, in shared memory, double precision.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
#define N 16
extern "C" __global__ void lu(double* matrices, int* pivots, double* determinants) {
    __shared__ double a[N][N];
    __shared__ int chosen;
    int r = threadIdx.y, c = threadIdx.x;
    double* m = matrices + blockIdx.x * N * N;
    a[r][c] = m[r * N + c];
    double sign = 1.0;
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (r == 0 && c == 0) {
            int best = k;
            for (int i = k + 1; i < N; i++)
                if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
            chosen = best;
            pivots[blockIdx.x * N + k] = best;
        }
        __syncthreads();
        int p = chosen;
        if (p != k) {
            sign = -sign;
            if (r == 0) {
                double v = a[k][c];
                a[k][c] = a[p][c];
                a[p][c] = v;
            }
        }
        __syncthreads();
        if (c == k && r > k) a[r][k] = a[r][k] / a[k][k];
        __syncthreads();
        if (r > k && c > k) a[r][c] -= a[r][k] * a[k][c];
        __syncthreads();
    }
    m[r * N + c] = a[r][c];
    if (r == 0 && c == 0) {
        double d = sign;
        for (int k = 0; k < N; k++) d *= a[k][k];
        determinants[blockIdx.x] = d;
    }
}
