// CUDA's single-precision functions over wide ranges, the slow argument reduction of large angles included.
// targets: 12.9:compute_80 11.8:compute_52
extern "C" __global__ void float_math(const float* in, float* tight, float* loose, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], a = fabsf(x), s = __fmul_rn(x, 0.001f), u = x / (1.0f + a);
    float* t = tight + 20 * i;
    t[0] = sinf(x);
    t[1] = cosf(x);
    t[2] = expf(s);
    t[3] = logf(a);
    t[4] = sqrtf(a);
    t[5] = cbrtf(x);
    t[6] = exp2f(s);
    t[7] = log2f(a);
    t[8] = log1pf(a);
    t[9] = expm1f(s);
    t[10] = atanf(x);
    t[11] = asinf(u);
    t[12] = acosf(u);
    t[13] = tanhf(s);
    t[14] = erff(s);
    t[15] = floorf(x);
    t[16] = rintf(x);
    t[17] = truncf(x);
    t[18] = ceilf(x);
    t[19] = roundf(x);
    float* l = loose + 12 * i;
    l[0] = tanf(x);
    l[1] = powf(a, 0.37f);
    l[2] = atan2f(x, 3.0f - s);
    l[3] = sinhf(s);
    l[4] = coshf(s);
    l[5] = hypotf(x, 2.5f);
    l[6] = fmodf(x, 0.7f);
    l[7] = log10f(a);
    l[8] = erfcf(u);
    l[9] = tgammaf(__fadd_rn(2.0f, __fmul_rn(a, 0.001f)));
    l[10] = ldexpf(u, 7);
    l[11] = sinpif(u);
}
