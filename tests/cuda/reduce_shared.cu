// Sums a vector: a tree in shared memory for each block, then one atomic addition a block.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_90:debug
// clang: sm_70
extern "C" __global__ void reduce_shared(const int* in, int* total, int n) {
    __shared__ int part[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) {
        sum += in[i + blockDim.x];
    }
    part[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) {
            part[t] += part[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(total, part[0]);
    }
}
