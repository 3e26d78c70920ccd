// Warps of a block hand a value round through volatile shared flags, without a barrier; and a lock by compare-and-swap.
// targets: 12.9:compute_80 12.9:compute_75
// host: no
extern "C" __global__ void volatile_flags(int* out, int* order, int* lock, int* guarded) {
    __shared__ volatile int turn;
    __shared__ volatile int value;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    if (threadIdx.x == 0) {
        turn = 0;
        value = 1;
    }
    __syncthreads();
    if (lane == 0) {
        while (turn != warp) {
        }
        int v = value;
        order[blockIdx.x * warps + warp] = v;
        value = v * 3 + warp;
        __threadfence_block();
        turn = warp + 1;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
    if (lane == 0) {
        while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
        __threadfence();
        int v = *(volatile int*)guarded;
        *(volatile int*)guarded = v + warp + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
