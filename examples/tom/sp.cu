// Scalar products of pairs of vectors, a block a pair at a time. The CUDA SDK's.
// targets: 12.9:compute_75
// options: --fmad=false
#define SUMS 1024

extern "C" __global__ void scalar_products(float* out, const float* a, const float* b, int vectors, int elements) {
    __shared__ float sums[SUMS];
    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        int begin = elements * vector, end = begin + elements;
        for (int k = threadIdx.x; k < SUMS; k += blockDim.x) {
            float sum = 0.0f;
            for (int at = begin + k; at < end; at += SUMS) sum += a[at] * b[at];
            sums[k] = sum;
        }
        for (int half = SUMS / 2; half > 0; half >>= 1) {
            __syncthreads();
            for (int k = threadIdx.x; k < half; k += blockDim.x) sums[k] += sums[half + k];
        }
        if (threadIdx.x == 0) out[vector] = sums[0];
    }
}
