// Counting into buckets by float keys, offsets by a scan, then an insertion sort of each bucket by one thread.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void bucket_count(const float* keys, int n, int* counts, int buckets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[(int)(keys[i] * buckets)], 1);
}

extern "C" __global__ void bucket_scan(const int* counts, int* starts, int* cursors, int buckets) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = counts[t];
    __syncthreads();
    for (int d = 1; d < buckets; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    starts[t] = cursors[t] = s[t] - counts[t];
    if (t == buckets - 1) starts[buckets] = s[t];
}

extern "C" __global__ void bucket_place(const float* keys, int n, int* cursors, float* out, int buckets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[atomicAdd(&cursors[(int)(keys[i] * buckets)], 1)] = keys[i];
}

extern "C" __global__ void bucket_finish(const int* starts, float* out, int buckets) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= buckets) return;
    for (int i = starts[b] + 1; i < starts[b + 1]; i++) {
        float v = out[i];
        int j = i;
        while (j > starts[b] && out[j - 1] > v) {
            out[j] = out[j - 1];
            j--;
        }
        out[j] = v;
    }
}
