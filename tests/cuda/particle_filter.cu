// Resampling of a particle filter: likelihoods from bytes, weights, a prefix sum, and indices by search in it.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
extern "C" __global__ void likelihood(const unsigned char* image, int w, const int* xs, const int* ys, const int* offsets, int points, double* weights, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0.0;
    for (int k = 0; k < points; k++) {
        double v = image[ys[i] * w + xs[i] + offsets[k]];
        sum += ((v - 100.0) * (v - 100.0) - (v - 228.0) * (v - 228.0)) / 50.0;
    }
    sum = sum / points / 1000.0;
    weights[i] = 1.0 + sum * sum;
}

extern "C" __global__ void prefix(const double* weights, double* sums, int n) {
    double total = 0.0;
    for (int i = 0; i < n; i++) {
        total += weights[i];
        sums[i] = total;
    }
}

extern "C" __global__ void resample(const double* sums, const int* xs, const int* ys, int* new_xs, int* new_ys, double start, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double want = (start + i) * sums[n - 1] / n;
    int index = n - 1;
    for (int k = 0; k < n; k++) {
        if (sums[k] >= want) {
            index = k;
            break;
        }
    }
    new_xs[i] = xs[index];
    new_ys[i] = ys[index];
}
