// K-means over global memory: points turned feature by feature, nearest centres. Rodinia's algorithm and layout; new centres are the
// host's work.
// targets: 12.9:compute_75
// options: --fmad=false
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
