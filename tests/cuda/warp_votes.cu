// Ballots, any and all under divergence, match, and the active mask of a half warp.
// targets: 12.9:compute_80 12.9:compute_75 12.9:compute_100
extern "C" __global__ void warp_votes(const int* in, unsigned* ballots, unsigned* anys, unsigned* matches, unsigned* alls, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i];
    unsigned b = __ballot_sync(0xffffffffu, v > 0);
    unsigned odd = 0;
    if (lane & 1) odd = __ballot_sync(0xaaaaaaaau, v > 5);
    else odd = __ballot_sync(0x55555555u, v < 3) << 1;
    ballots[2 * i] = b;
    ballots[2 * i + 1] = odd;
    int any = __any_sync(0xffffffffu, v == 7), all = __all_sync(0xffffffffu, v < 10);
    anys[i] = any << 1 | all;
    matches[i] = __match_any_sync(0xffffffffu, v & 3);
    int same = 0;
    unsigned mask = __match_all_sync(0xffffffffu, v >> 4, &same);
    unsigned long long half = 0;
    if (lane < 16) half = __match_any_sync(0xffffu, (unsigned long long)v << 40);
    alls[i] = mask ^ (same ? 0x10u : 0u) ^ (unsigned)half;
}
