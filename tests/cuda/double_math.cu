// CUDA's double-precision functions, the slow argument reduction of large angles included.
// targets: 12.9:compute_80 11.8:compute_60
extern "C" __global__ void double_math(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i], a = fabs(x), s = __dmul_rn(x, 0.001), u = x / (1.0 + a);
    double* o = out + 20 * i;
    o[0] = sin(x);
    o[1] = cos(x);
    o[2] = tan(x);
    o[3] = exp(s);
    o[4] = log(a);
    o[5] = sqrt(a);
    o[6] = cbrt(x);
    o[7] = pow(a, 0.37);
    o[8] = exp2(s);
    o[9] = log2(a);
    o[10] = log1p(a);
    o[11] = expm1(s);
    o[12] = atan(x);
    o[13] = asin(u);
    o[14] = tanh(s);
    o[15] = erf(s);
    o[16] = atan2(x, 3.0 - s);
    o[17] = sinh(s);
    o[18] = hypot(x, 2.5);
    o[19] = rint(x) + floor(s) + fmod(x, 0.75);
}
