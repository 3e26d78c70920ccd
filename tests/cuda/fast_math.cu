// What --use_fast_math makes of common expressions: approximate instructions that flush denormals.
// targets: 12.9:compute_80 11.8:compute_52
// options: --use_fast_math
extern "C" __global__ void fast_math(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], a = fabsf(x) + 0.125f;
    float* o = out + 10 * i;
    o[0] = sinf(x);
    o[1] = cosf(x);
    o[2] = expf(x);
    o[3] = logf(a);
    o[4] = powf(a, 1.7f);
    o[5] = x / a;
    o[6] = sqrtf(a);
    o[7] = rsqrtf(a);
    o[8] = 1.0f / a;
    o[9] = log2f(a);
}
