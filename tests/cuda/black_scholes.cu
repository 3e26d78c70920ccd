// European options by the polynomial of the cumulative normal distribution, with CUDA's own expf, logf and sqrtf.
// targets: 12.9:compute_80 11.8:compute_52
// host: contract
__device__ float cnd(float d) {
    const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float v = 0.39894228f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    return d > 0 ? 1.0f - v : v;
}

extern "C" __global__ void black_scholes(const float* price, const float* strike, const float* years, float rate,
                                         float volatility, float* call, float* put, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = price[i], x = strike[i], t = years[i];
        float root = sqrtf(t);
        float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float c1 = cnd(d1), c2 = cnd(d2), discount = expf(-rate * t);
        call[i] = s * c1 - x * discount * c2;
        put[i] = x * discount * (1.0f - c2) - s * (1.0f - c1);
    }
}
