// pr of Table I: the sum of all elements. Threads stride over them, a block adds in shared memory; a
// second launch of one block adds what the blocks left.
// targets: 12.9:compute_75
const int T = 128;

extern "C" __global__ void __launch_bounds__(T)
pr(const int* __restrict__ in, int* __restrict__ out, int n) {
    __shared__ int sums[T];
    int sum = 0;
    for (int i = blockIdx.x * T + threadIdx.x; i < n; i += gridDim.x * T) sum += in[i];
    sums[threadIdx.x] = sum;
    for (int half = T / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
