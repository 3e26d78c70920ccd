// Keeps what satisfies a predicate: warp-aggregated atomics for any order, and a stable scan within a block.
// targets: 12.9:compute_80 12.9:compute_90
extern "C" __global__ void compact_sum(const int* in, int n, int* count, unsigned long long* sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && in[i] % 3 == 0;
    unsigned active = __ballot_sync(0xffffffffu, keep);
    if (!keep) return;
    int leader = __ffs(active) - 1, lane = threadIdx.x & 31, base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    int at = base + __popc(active & ((1u << lane) - 1));
    atomicAdd(&sum[0], (unsigned long long)at);
    atomicAdd(&sum[1], (unsigned long long)(long long)in[i]);
}

extern "C" __global__ void compact_stable(const int* in, int n, int* out, int* kept) {
    __shared__ int s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int keep = i < n && in[i] % 3 == 0;
    s[t] = keep;
    for (int d = 1; d < 128; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    if (keep) out[blockIdx.x * 128 + s[t] - 1] = in[i];
    if (t == 127) kept[blockIdx.x] = s[127];
}
