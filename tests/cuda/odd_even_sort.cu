// Odd-even transposition with an early end that the whole block agrees on.
// targets: 12.9:compute_80 11.8:compute_52
extern "C" __global__ void odd_even_sort(const float* in, float* out, int* rounds, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x) s[i] = in[i];
    __syncthreads();
    int round = 0;
    for (;; round++) {
        int swapped = 0;
        for (int phase = 0; phase < 2; phase++) {
            int i = 2 * t + phase;
            if (i + 1 < n && s[i] > s[i + 1]) {
                float v = s[i];
                s[i] = s[i + 1];
                s[i + 1] = v;
                swapped = 1;
            }
            __syncthreads();
        }
        if (!__syncthreads_or(swapped)) break;
    }
    for (int i = t; i < n; i += blockDim.x) out[i] = s[i];
    if (t == 0) *rounds = round;
}
