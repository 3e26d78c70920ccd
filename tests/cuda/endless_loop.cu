// One thread waits for a flag that nobody sets.
// targets: 12.9:compute_80 11.8:compute_52
// host: no
extern "C" __global__ void endless_loop(volatile int* flag, int* out) {
    if (threadIdx.x == 5) {
        while (*flag == 0) {
        }
    }
    out[threadIdx.x] = 1;
}
