// Radix-2 FFT of 128 complex points a block, bit reversal by __brev, twiddles given as a table.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
#define N 128
extern "C" __global__ void fft(const float2* in, float2* out, const float2* twiddle, int inverse) {
    __shared__ float2 s[N];
    int t = threadIdx.x;
    const float2* from = in + blockIdx.x * N;
    s[__brev(t) >> 25] = from[t];
    s[__brev(t + N / 2) >> 25] = from[t + N / 2];
    __syncthreads();
    for (int half = 1; half < N; half *= 2) {
        int k = t & (half - 1), a = 2 * t - k, b = a + half;
        float2 w = twiddle[k * (N / 2 / half)];
        if (inverse) w.y = -w.y;
        float2 u = s[a], v = s[b];
        float2 p = make_float2(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        s[a] = make_float2(u.x + p.x, u.y + p.y);
        s[b] = make_float2(u.x - p.x, u.y - p.y);
        __syncthreads();
    }
    float scale = inverse ? 1.0f / N : 1.0f;
    for (int i = t; i < N; i += N / 2) out[blockIdx.x * N + i] = make_float2(s[i].x * scale, s[i].y * scale);
}
