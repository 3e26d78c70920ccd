// One function works on global, shared, local and constant memory through generic pointers chosen at run time.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
__constant__ int steady[8] = {9, 8, 7, 6, 5, 4, 3, 2};
__device__ int module_words[8] = {1, 1, 2, 3, 5, 8, 13, 21};

__device__ __noinline__ int weigh(const int* p, int count) {
    int sum = 0;
    for (int k = 0; k < count; k++) sum = sum * 3 + p[k];
    return sum;
}

__device__ __noinline__ void bump(int* p, int by) {
    for (int k = 0; k < 8; k++) p[k] += by * k;
}

extern "C" __global__ void generic_pointers(int* words, int* out, int n) {
    __shared__ int shared_words[64 * 8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int own[8];
    for (int k = 0; k < 8; k++) {
        own[k] = i - k;
        shared_words[t * 8 + k] = k * t;
    }
    int* p = i % 3 == 0 ? own : i % 3 == 1 ? &shared_words[t * 8] : &words[(i < n ? i : 0) * 8];
    if (i < n) bump(p, 2);
    __syncthreads();
    if (i >= n) return;
    const int* q = i % 5 == 0 ? steady : i % 5 == 1 ? module_words : p;
    int first = weigh(q, 8), second = weigh(&shared_words[(63 - t) * 8], 8);
    out[2 * i] = first;
    out[2 * i + 1] = second;
}
