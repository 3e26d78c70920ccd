// Fast Walsh transform: radix-4 stages over global memory, the last ones in shared memory; then the product of two spectra. The CUDA SDK's.
// targets: 12.9:compute_75
// options: --fmad=false

// Four elements `stride` apart.
extern "C" __global__ void global_stage(float* data, int stride) {
    int position = blockIdx.x * blockDim.x + threadIdx.x;
    float* own = data + blockIdx.y * (gridDim.x * blockDim.x * 4);
    int low = position & (stride - 1);
    int i0 = ((position - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    float d0 = own[i0], d1 = own[i1], d2 = own[i2], d3 = own[i3], t;
    t = d0; d0 = d0 + d2; d2 = t - d2;
    t = d1; d1 = d1 + d3; d3 = t - d3;
    t = d0; d0 = d0 + d1; d1 = t - d1;
    t = d2; d2 = d2 + d3; d3 = t - d3;
    own[i0] = d0;
    own[i1] = d1;
    own[i2] = d2;
    own[i3] = d3;
}

// A block transforms 2^log elements of its own.
extern "C" __global__ void shared_stages(const float* in, float* out, int log) {
    extern __shared__ float part[];
    int n = 1 << log;
    int base = blockIdx.x << log;
    for (int k = threadIdx.x; k < n; k += blockDim.x) part[k] = in[base + k];
    for (int stride = n >> 1; stride >= 1; stride >>= 1) {
        __syncthreads();
        for (int k = threadIdx.x; k < n / 2; k += blockDim.x) {
            int low = k & (stride - 1);
            int i0 = ((k - low) << 1) + low, i1 = i0 + stride;
            float a = part[i0], b = part[i1];
            part[i0] = a + b;
            part[i1] = a - b;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) out[base + k] = part[k];
}

extern "C" __global__ void modulate(float* a, const float* b, int n) {
    int threads = gridDim.x * blockDim.x;
    float scale = 1.0f / (float)n;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += threads) a[k] = a[k] * b[k] * scale;
}
