// K-means: assignment with distances in single precision, integer sums by atomics in shared memory, new centres.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
#define K 5
#define D 3
extern "C" __global__ void assign(const short* points, const float* centres, int* label, int* sums, int* counts, int n) {
    __shared__ int part[K][D], count[K];
    int t = threadIdx.x;
    if (t < K * D) part[t / D][t % D] = 0;
    if (t < K) count[t] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        int best = 0;
        float least = 3.4e38f;
        for (int k = 0; k < K; k++) {
            float d2 = 0.0f;
#pragma unroll
            for (int d = 0; d < D; d++) {
                float diff = points[i * D + d] - centres[k * D + d];
                d2 += diff * diff;
            }
            if (d2 < least) {
                least = d2;
                best = k;
            }
        }
        label[i] = best;
        for (int d = 0; d < D; d++) atomicAdd(&part[best][d], (int)points[i * D + d]);
        atomicAdd(&count[best], 1);
    }
    __syncthreads();
    if (t < K * D) atomicAdd(&sums[t], part[t / D][t % D]);
    if (t < K) atomicAdd(&counts[t], count[t]);
}

extern "C" __global__ void move_centres(float* centres, int* sums, int* counts) {
    int k = threadIdx.x / D;
    int count = counts[k];
    __syncthreads();
    if (count > 0) centres[threadIdx.x] = (float)sums[threadIdx.x] / (float)count;
    sums[threadIdx.x] = 0;
    if (threadIdx.x % D == 0) counts[k] = 0;
}
