// kmeans of Table I: points of several features (a feature's values stand together) go to the nearest
// centre, whose points are added in shared memory; then centres become the means. Sums are of
// integers, so that their order does not matter.
// targets: 12.9:compute_75
// options: --fmad=false
const int T = 128, MOST = 512;

extern "C" __global__ void __launch_bounds__(T)
assign(const float* __restrict__ points, const float* __restrict__ centres, int* __restrict__ member,
       int* __restrict__ sums, int* __restrict__ counts, int n, int features, int clusters) {
    __shared__ float near[MOST];
    __shared__ int added[MOST];
    __shared__ int counted[64];
    for (int k = threadIdx.x; k < features * clusters; k += T) {
        near[k] = centres[k];
        added[k] = 0;
    }
    if (threadIdx.x < clusters) counted[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * T + threadIdx.x; i < n; i += gridDim.x * T) {
        float best = 3.4e38f;
        int closest = 0;
        for (int c = 0; c < clusters; c++) {
            float distance = 0;
            for (int f = 0; f < features; f++) {
                float d = points[(size_t)f * n + i] - near[c * features + f];
                distance += d * d;
            }
            if (distance < best) {
                best = distance;
                closest = c;
            }
        }
        member[i] = closest;
        atomicAdd(&counted[closest], 1);
        for (int f = 0; f < features; f++) {
            atomicAdd(&added[closest * features + f], (int)(points[(size_t)f * n + i] * 256.0f));
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < features * clusters; k += T) atomicAdd(&sums[k], added[k]);
    if (threadIdx.x < clusters) atomicAdd(&counts[threadIdx.x], counted[threadIdx.x]);
}

extern "C" __global__ void __launch_bounds__(T)
means(float* __restrict__ centres, int* __restrict__ sums, int* __restrict__ counts, int features,
      int clusters) {
    for (int k = threadIdx.x; k < features * clusters; k += T) {
        int count = counts[k / features];
        if (count > 0) centres[k] = (float)sums[k] * (1.0f / 256.0f) / (float)count;
        sums[k] = 0;
    }
    __syncthreads();
    if (threadIdx.x < clusters) counts[threadIdx.x] = 0;
}
