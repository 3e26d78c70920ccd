// hist of Table I: how often each of 256 values occurs. A block counts in shared memory, and adds its
// counts to those of all.
// targets: 12.9:compute_75
const int T = 128;

extern "C" __global__ void __launch_bounds__(T)
hist(const unsigned* __restrict__ in, unsigned* __restrict__ bins, int words) {
    __shared__ unsigned counts[256];
    for (int k = threadIdx.x; k < 256; k += T) counts[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * T + threadIdx.x; i < words; i += gridDim.x * T) {
        unsigned four = in[i];
#pragma unroll
        for (int k = 0; k < 4; k++) atomicAdd(&counts[four >> 8 * k & 255], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += T) {
        if (counts[k] != 0) atomicAdd(&bins[k], counts[k]);
    }
}
