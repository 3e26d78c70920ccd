// Adds two vectors; the last block is partial.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_90 12.9:compute_100 12.9:compute_80:debug
// clang: sm_70
extern "C" __global__ void vecadd(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
