// Gaussian elimination with two kernels a step and a back substitution, as Rodinia's gaussian.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
extern "C" __global__ void fan1(float* m, const float* a, int size, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size - 1 - t) return;
    m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

extern "C" __global__ void fan2(const float* m, float* a, float* b, int size, int t) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size - 1 - t || col >= size - t) return;
    a[size * (row + 1 + t) + col + t] -= m[size * (row + 1 + t) + t] * a[size * t + col + t];
    if (col == 0) b[row + 1 + t] -= m[size * (row + 1 + t) + t] * b[t];
}

extern "C" __global__ void back_substitute(const float* a, const float* b, float* x, int size) {
    for (int i = size - 1; i >= 0; i--) {
        float v = b[i];
        for (int j = i + 1; j < size; j++) v -= a[size * i + j] * x[j];
        x[i] = v / a[size * i + i];
    }
}
