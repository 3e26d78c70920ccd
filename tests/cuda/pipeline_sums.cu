// A chain of small kernels over the same buffers, some with one thread, some with the largest block.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_60 sm_60:O0
extern "C" __global__ void fill(int* v, int n, int seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = (i * 7919 + seed) % 1009;
}

extern "C" __global__ void fold(int* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = (n + 1) / 2;
    if (i < n / 2) v[i] += v[i + half];
}

extern "C" __global__ void finish(const int* v, long long* total, int times) {
    long long t = 0;
    for (int k = 0; k < times; k++) t += (long long)v[0] * (k + 1);
    *total = t;
}
