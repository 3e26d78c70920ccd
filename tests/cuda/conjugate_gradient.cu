// Steps of conjugate gradients on a tridiagonal system, scalars kept on the device, dot products by a fixed tree.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
#define N 100
__device__ double dot(const double* a, const double* b, double* tree) {
    int t = threadIdx.x;
    tree[t] = t < N ? a[t] * b[t] : 0.0;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) tree[t] += tree[t + half];
        __syncthreads();
    }
    double v = tree[0];
    __syncthreads();
    return v;
}

extern "C" __global__ void conjugate_gradient(const double* rhs, double* solution, double* residuals, int steps) {
    __shared__ double x[N], r[N], p[N], q[N], tree[128];
    int t = threadIdx.x;
    if (t < N) {
        x[t] = 0.0;
        r[t] = p[t] = rhs[t];
    }
    __syncthreads();
    double rho = dot(r, r, tree);
    for (int s = 0; s < steps; s++) {
        if (t < N) {
            double v = 2.5 * p[t];
            if (t > 0) v -= p[t - 1];
            if (t < N - 1) v -= p[t + 1];
            q[t] = v;
        }
        __syncthreads();
        double alpha = rho / dot(p, q, tree);
        if (t < N) {
            x[t] += alpha * p[t];
            r[t] -= alpha * q[t];
        }
        __syncthreads();
        double next = dot(r, r, tree), beta = next / rho;
        rho = next;
        if (t < N) p[t] = r[t] + beta * p[t];
        if (t == 0) residuals[s] = rho;
        __syncthreads();
    }
    if (t < N) solution[t] = x[t];
}
