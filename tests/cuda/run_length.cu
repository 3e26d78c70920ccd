// Run-length encoding: heads by comparison, positions by a block scan of ballots, lengths by differences.
// targets: 12.9:compute_80 12.9:compute_75
extern "C" __global__ void run_length(const signed char* in, int n, signed char* values, int* lengths, int* runs) {
    __shared__ int warps[32], heads[512], total;
    int t = threadIdx.x, lane = t & 31;
    bool head = t < n && (t == 0 || in[t] != in[t - 1]);
    unsigned ballot = __ballot_sync(0xffffffffu, head);
    if (lane == 0) warps[t >> 5] = __popc(ballot);
    __syncthreads();
    if (t < 32) {
        int v = t < blockDim.x / 32 ? warps[t] : 0, mine = v;
        for (int d = 1; d < 32; d *= 2) {
            int o = __shfl_up_sync(0xffffffffu, v, d);
            if (t >= d) v += o;
        }
        warps[t] = v - mine;
        if (t == 31) total = v;
    }
    __syncthreads();
    int at = warps[t >> 5] + __popc(ballot & ((1u << lane) - 1));
    if (head) {
        heads[at] = t;
        values[at] = in[t];
    }
    __syncthreads();
    if (t < total) lengths[t] = (t + 1 < total ? heads[t + 1] : n) - heads[t];
    if (t == 0) *runs = total;
}
