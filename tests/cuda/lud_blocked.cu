// LU decomposition without pivoting in blocks of 8: diagonal, perimeter and internal kernels, as Rodinia's lud.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
#define B 8
extern "C" __global__ void lud_diagonal(float* m, int n, int at) {
    __shared__ float s[B][B];
    int t = threadIdx.x;
    for (int i = 0; i < B; i++) s[i][t] = m[(at + i) * n + at + t];
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++) s[t][i] -= s[t][j] * s[j][i];
            s[t][i] /= s[i][i];
        }
        __syncthreads();
        if (t > i) {
            for (int j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t];
        }
        __syncthreads();
    }
    for (int i = 1; i < B; i++) m[(at + i) * n + at + t] = s[i][t];
}

extern "C" __global__ void lud_perimeter(float* m, int n, int at) {
    __shared__ float diagonal[B][B], row[B][B], col[B][B];
    int t = threadIdx.x % B, part = threadIdx.x / B;
    int right = at + (blockIdx.x + 1) * B;
    for (int i = part; i < B; i += 2) {
        diagonal[i][t] = m[(at + i) * n + at + t];
        row[i][t] = m[(at + i) * n + right + t];
        col[i][t] = m[(right + i) * n + at + t];
    }
    __syncthreads();
    if (part == 0) {
        for (int i = 1; i < B; i++)
            for (int j = 0; j < i; j++) row[i][t] -= diagonal[i][j] * row[j][t];
    } else {
        for (int i = 0; i < B; i++) {
            for (int j = 0; j < i; j++) col[t][i] -= col[t][j] * diagonal[j][i];
            col[t][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    for (int i = part; i < B; i += 2) {
        m[(at + i) * n + right + t] = row[i][t];
        m[(right + i) * n + at + t] = col[i][t];
    }
}

extern "C" __global__ void lud_internal(float* m, int n, int at) {
    __shared__ float row[B][B], col[B][B];
    int x = at + (blockIdx.x + 1) * B + threadIdx.x, y = at + (blockIdx.y + 1) * B + threadIdx.y;
    row[threadIdx.y][threadIdx.x] = m[(at + threadIdx.y) * n + x];
    col[threadIdx.y][threadIdx.x] = m[y * n + at + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < B; k++) sum += col[threadIdx.y][k] * row[k][threadIdx.x];
    m[y * n + x] -= sum;
}
