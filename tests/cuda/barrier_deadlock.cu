// The first warp waits at one named barrier and the second at another: nobody can go on.
// targets: 12.9:compute_80
// options: -lineinfo
// host: no
extern "C" __global__ void barrier_deadlock(int* out) {
    if (threadIdx.x < 32) asm volatile("barrier.sync 1, 64;" ::: "memory");
    else asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
