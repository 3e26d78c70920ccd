// Sparse matrix times vector: a thread a row, and a warp a row with a shuffle reduction; ELL format as well.
// targets: 12.9:compute_80 12.9:compute_75
extern "C" __global__ void spmv_scalar(const int* starts, const int* cols, const float* vals, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int e = starts[row]; e < starts[row + 1]; e++) sum = fmaf(vals[e], x[cols[e]], sum);
    y[row] = sum;
}

extern "C" __global__ void spmv_vector(const int* starts, const int* cols, const float* vals, const float* x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int e = starts[row] + lane; e < starts[row + 1]; e += 32) sum = fmaf(vals[e], x[cols[e]], sum);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}

extern "C" __global__ void spmv_ell(const int* cols, const float* vals, int width, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        int col = cols[k * rows + row];
        if (col < 0) break;
        sum = fmaf(vals[k * rows + row], x[col], sum);
    }
    y[row] = sum;
}
