// A tile of 9 x 9 doubles in registers of each thread: more live values than a register file holds for it.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
// clang: sm_70
#define T 9
extern "C" __global__ void register_tile(const double* a, const double* b, double* c, int n) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * T, col = (blockIdx.x * blockDim.x + threadIdx.x) * T;
    double s[T][T], x[T], y[T];
#pragma unroll
    for (int i = 0; i < T; i++)
#pragma unroll
        for (int j = 0; j < T; j++) s[i][j] = i - j;
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < T; i++) {
            x[i] = a[(row + i) * n + k];
            y[i] = b[k * n + col + i];
        }
#pragma unroll
        for (int i = 0; i < T; i++)
#pragma unroll
            for (int j = 0; j < T; j++) s[i][j] = s[i][j] + x[i] * y[j];
    }
#pragma unroll
    for (int i = 0; i < T; i++)
#pragma unroll
        for (int j = 0; j < T; j++) c[(row + i) * n + col + j] = s[i][j];
}
