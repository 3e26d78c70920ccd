// __trap in one thread of the second block.
// targets: 12.9:compute_80 11.8:compute_52
#ifdef __CUDA_ON_HOST__
#define __trap abort
#endif
extern "C" __global__ void trapping(int* out) {
    if (blockIdx.x == 1 && threadIdx.x == 9) __trap();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
