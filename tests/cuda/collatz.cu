// Steps of the Collatz sequence: a divergent loop with a different count in each lane.
// targets: 12.9:compute_75 12.9:compute_80
// clang: sm_60
extern "C" __global__ void collatz(const unsigned* start, unsigned* steps, unsigned* peaks, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = start[i], count = 0, peak = v;
    while (v > 1) {
        if (v & 1) {
            if (v > 0x55555554u) {
                count |= 0x80000000u;
                break;
            }
            v = 3 * v + 1;
        } else {
            v >>= 1;
        }
        peak = v > peak ? v : peak;
        count++;
    }
    steps[i] = count;
    peaks[i] = peak;
}
