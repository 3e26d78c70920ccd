// Sum, minimum and maximum by warp shuffles, then over the warps of the block.
// targets: 12.9:compute_80 12.9:compute_90
__device__ __forceinline__ int warp_sum(int v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void reduce_shuffle(const int* in, int* sums, int* lows, int* highs, int n) {
    __shared__ int part[3][32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    int low = i < n ? v : 0x7fffffff, high = i < n ? v : -0x7fffffff - 1;
    int sum = warp_sum(v);
    for (int d = 16; d > 0; d >>= 1) {
        low = min(low, __shfl_xor_sync(0xffffffffu, low, d));
        high = max(high, __shfl_xor_sync(0xffffffffu, high, d));
    }
    if (lane == 0) {
        part[0][warp] = sum;
        part[1][warp] = low;
        part[2][warp] = high;
    }
    __syncthreads();
    if (warp == 0) {
        int warps = blockDim.x >> 5;
        sum = lane < warps ? part[0][lane] : 0;
        low = lane < warps ? part[1][lane] : 0x7fffffff;
        high = lane < warps ? part[2][lane] : -0x7fffffff - 1;
        sum = warp_sum(sum);
        for (int d = 16; d > 0; d >>= 1) {
            low = min(low, __shfl_xor_sync(0xffffffffu, low, d));
            high = max(high, __shfl_xor_sync(0xffffffffu, high, d));
        }
        if (lane == 0) {
            sums[blockIdx.x] = sum;
            lows[blockIdx.x] = low;
            highs[blockIdx.x] = high;
        }
    }
}
