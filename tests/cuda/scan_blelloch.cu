// Work-efficient exclusive scan: up-sweep and down-sweep in shared memory, then block offsets.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
    s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
    int offset = 1;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) {
        sums[blockIdx.x] = s[255];
        s[255] = 0;
    }
    for (int d = 1; d < 256; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    if (base + 2 * t < n) out[base + 2 * t] = s[2 * t];
    if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = s[2 * t + 1];
}

extern "C" __global__ void scan_offsets(int* sums, int blocks) {
    int total = 0;
    for (int i = 0; i < blocks; i++) {
        int v = sums[i];
        sums[i] = total;
        total += v;
    }
}

extern "C" __global__ void scan_add(int* out, const int* sums, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
}
