// Sorts each block's keys with a bitonic network in shared memory.
// targets: 12.9:compute_80 11.8:compute_35
// clang: sm_70
extern "C" __global__ void bitonic_sort(int* keys, int n) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? keys[i] : 0x7fffffff;
    s[t + 128] = i + 128 < n ? keys[i + 128] : 0x7fffffff;
    for (int size = 2; size <= 256; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            int a = s[low], b = s[high];
            if ((a > b) == up) {
                s[low] = b;
                s[high] = a;
            }
        }
    }
    __syncthreads();
    if (i < n) keys[i] = s[t];
    if (i + 128 < n) keys[i + 128] = s[t + 128];
}
