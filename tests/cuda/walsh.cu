// Fast Walsh-Hadamard transform, and a Haar wavelet of the same data, in shared memory.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void walsh(const int* in, int* out, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x) s[i] = in[blockIdx.x * n + i];
    for (int half = n / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int k = t; k < n / 2; k += blockDim.x) {
            int low = k & (half - 1), a = (k - low) * 2 + low;
            int u = s[a], v = s[a + half];
            s[a] = u + v;
            s[a + half] = u - v;
        }
    }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) out[blockIdx.x * n + i] = s[i];
}

extern "C" __global__ void haar(const float* in, float* out, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * n + t];
    s[t + n / 2] = in[blockIdx.x * n + t + n / 2];
    for (int length = n; length > 1; length /= 2) {
        __syncthreads();
        float a = 0.0f, b = 0.0f;
        if (t < length / 2) {
            a = s[2 * t];
            b = s[2 * t + 1];
        }
        __syncthreads();
        if (t < length / 2) {
            s[t] = (a + b) * 0.5f;
            out[blockIdx.x * n + length / 2 + t] = (a - b) * 0.5f;
        }
    }
    if (t == 0) out[blockIdx.x * n] = s[0];
}
