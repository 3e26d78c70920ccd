// K-means over global memory: points turned feature by feature, nearest centres, new centres. Rodinia's algorithm and layout.
// targets: 12.9:compute_75
// options: --fmad=false
#define THREADS 256

extern "C" __global__ void invert(const float* points, float* turned, int n, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < n)
        for (int f = 0; f < features; f++) turned[point + n * f] = points[point * features + f];
}

extern "C" __global__ void nearest(const float* turned, int features, int n, int clusters, const float* centres, int* membership) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < n) {
        int index = -1;
        float least = 3.402823466e+38f;
        for (int k = 0; k < clusters; k++) {
            float distance = 0.0f;
            for (int f = 0; f < features; f++) {
                float d = turned[point + f * n] - centres[k * features + f];
                distance += d * d;
            }
            if (distance < least) {
                least = distance;
                index = k;
            }
        }
        membership[point] = index;
    }
}

// Block (k, f) makes feature f of centre k.
extern "C" __global__ void means(const float* turned, int features, int n, const int* membership, float* centres) {
    __shared__ float sums[THREADS];
    __shared__ int counts[THREADS];
    int k = blockIdx.x, f = blockIdx.y, t = threadIdx.x;
    float sum = 0.0f;
    int count = 0;
    for (int point = t; point < n; point += THREADS) {
        if (membership[point] == k) {
            sum += turned[point + f * n];
            count++;
        }
    }
    sums[t] = sum;
    counts[t] = count;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sums[t] += sums[t + half];
            counts[t] += counts[t + half];
        }
        __syncthreads();
    }
    if (t == 0 && counts[0] > 0) centres[k * features + f] = sums[0] / (float)counts[0];
}
