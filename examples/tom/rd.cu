// Sums of many numbers by several kernels, each with less waiting than the one before. The CUDA SDK's.
// targets: 12.9:compute_75
#define THREADS 256

// Neighbours first: every second thread, every fourth, and so on.
extern "C" __global__ void interleaved(const int* in, int* out, int n) {
    __shared__ int sums[THREADS];
    int t = threadIdx.x, at = blockIdx.x * THREADS + t;
    sums[t] = at < n ? in[at] : 0;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        if (t % (2 * step) == 0) sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// Halves: the first threads stay.
extern "C" __global__ void sequential(const int* in, int* out, int n) {
    __shared__ int sums[THREADS];
    int t = threadIdx.x, at = blockIdx.x * THREADS + t;
    sums[t] = at < n ? in[at] : 0;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// The first addition while loading.
extern "C" __global__ void first_while_loading(const int* in, int* out, int n) {
    __shared__ int sums[THREADS];
    int t = threadIdx.x, at = blockIdx.x * 2 * THREADS + t;
    int sum = at < n ? in[at] : 0;
    if (at + THREADS < n) sum += in[at + THREADS];
    sums[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// As many additions as there are elements for a thread.
extern "C" __global__ void strided(const int* in, int* out, int n) {
    __shared__ int sums[THREADS];
    int t = threadIdx.x, sum = 0;
    for (int at = blockIdx.x * 2 * THREADS + t; at < n; at += 2 * THREADS * gridDim.x) {
        sum += in[at];
        if (at + THREADS < n) sum += in[at + THREADS];
    }
    sums[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
