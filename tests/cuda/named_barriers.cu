// Producer and consumer warps with named barriers by inline PTX: arrive on one side, sync on the other; and barrier reductions.
// targets: 12.9:compute_80 12.9:compute_75
// host: no
extern "C" __global__ void named_barriers(const int* in, int* out, int* votes, int rounds) {
    __shared__ int slot[32];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (warp == 0) {
        for (int r = 0; r < rounds; r++) {
            asm volatile("barrier.sync 2, 64;" ::: "memory");
            slot[lane] = in[r * 32 + lane] * 2;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else if (warp == 1) {
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[r * 32 + lane] = slot[31 - lane] + r;
        }
        asm volatile("barrier.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 3, 64;" ::: "memory");
    }
    if (warp == 0) asm volatile("barrier.sync 2, 64;" ::: "memory");
    int count = __syncthreads_count(lane < 5 + warp);
    int both = __syncthreads_and(lane < 32) << 1 | __syncthreads_or(threadIdx.x == 77);
    votes[threadIdx.x] = count << 2 | both;
}
