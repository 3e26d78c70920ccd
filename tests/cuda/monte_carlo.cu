// Estimates pi with a xorshift generator in each thread; hits counted by warp, block and grid.
// targets: 12.9:compute_80 12.9:compute_75
// options: --fmad=false
extern "C" __global__ void monte_carlo(unsigned long long seed, int trials, unsigned* hits, unsigned long long* states) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long s = seed + 0x9e3779b97f4a7c15ull * (i + 1);
    s = (s ^ (s >> 30)) * 0xbf58476d1ce4e5b9ull;
    s = (s ^ (s >> 27)) * 0x94d049bb133111ebull;
    s ^= s >> 31;
    unsigned mine = 0;
    for (int k = 0; k < trials; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        float x = (float)(unsigned)(s >> 40) * 5.9604644775390625e-8f;
        float y = (float)((unsigned)s & 0xffffffu) * 5.9604644775390625e-8f;
        if (x * x + y * y < 1.0f) mine++;
    }
    states[i] = s;
    for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(hits, mine);
}
