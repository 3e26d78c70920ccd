// Byte histogram: counts in shared memory first, merged with global atomics.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:rdc
// clang: sm_70
extern "C" __global__ void histogram(const unsigned char* data, unsigned* counts, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        if (local[b]) atomicAdd(&counts[b], local[b]);
    }
}

extern "C" __global__ void histogram_global(const unsigned char* data, unsigned long long* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[data[i] >> 4], 1ull);
}
