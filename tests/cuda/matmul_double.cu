// Double-precision matrix multiply with 2x2 results a thread, fused by the compiler; and int8 products by dp4a.
// targets: 12.9:compute_80 12.9:compute_61
extern "C" __global__ void matmul_double(const double* a, const double* b, double* c, int n) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 2, col = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (row >= n || col >= n) return;
    int row1 = min(row + 1, n - 1), col1 = min(col + 1, n - 1);
    double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int k = 0; k < n; k++) {
        double a0 = a[row * n + k], a1 = a[row1 * n + k], b0 = b[k * n + col], b1 = b[k * n + col1];
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
    }
    c[row * n + col] = s00;
    if (col1 > col) c[row * n + col1] = s01;
    if (row1 > row) c[row1 * n + col] = s10;
    if (row1 > row && col1 > col) c[row1 * n + col1] = s11;
}

extern "C" __global__ void matmul_bytes(const int* a, const int* b, int* c, int n, int k4) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n) return;
    int sum = 0;
    for (int k = 0; k < k4; k++) sum = __dp4a(a[row * k4 + k], b[col * k4 + k], sum);
    c[row * n + col] = sum;
}
