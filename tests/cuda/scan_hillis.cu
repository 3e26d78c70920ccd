// Inclusive scan of each block's part with two shared buffers.
// targets: 12.9:compute_80 11.8:compute_50
// clang: sm_60
extern "C" __global__ void scan_hillis(const unsigned* in, unsigned* out, int n) {
    extern __shared__ unsigned buffer[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int from = 0, to = blockDim.x;
    buffer[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        unsigned v = buffer[from + t];
        if (t >= d) v += buffer[from + t - d];
        buffer[to + t] = v;
        __syncthreads();
        int swap = from;
        from = to;
        to = swap;
    }
    if (i < n) out[i] = buffer[from + t];
}
