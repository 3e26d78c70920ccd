// Inclusive scans by shuffles over whole warps and over sub-warps of 8 lanes.
// targets: 12.9:compute_80 12.9:compute_75
extern "C" __global__ void scan_warp(const unsigned* in, unsigned* whole, unsigned* eighths, long long* wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned v = i < n ? in[i] : 0, w = v;
    long long l = (long long)(int)v * 3000000000ll;
    for (int d = 1; d < 32; d *= 2) {
        unsigned o = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += o;
        long long ol = __shfl_up_sync(0xffffffffu, l, d);
        if (lane >= d) l += ol;
    }
    for (int d = 1; d < 8; d *= 2) {
        unsigned o = __shfl_up_sync(0xffffffffu, w, d, 8);
        if ((lane & 7) >= d) w += o;
    }
    if (i < n) {
        whole[i] = v;
        eighths[i] = w;
        wide[i] = l;
    }
}
