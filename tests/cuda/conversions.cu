// Conversions between all number types; those out of range saturate as the device's do.
// targets: 12.9:compute_80 11.8:compute_52
// host: no
extern "C" __global__ void conversions(const float* f, const double* d, const long long* l, int* ints, unsigned* uints, long long* longs,
                                       unsigned long long* ulongs, float* floats, double* doubles, short* shorts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = f[i];
    double y = d[i];
    long long v = l[i];
    ints[6 * i] = (int)x;
    ints[6 * i + 1] = __float2int_rn(x);
    ints[6 * i + 2] = __float2int_ru(x);
    ints[6 * i + 3] = __float2int_rd(x);
    ints[6 * i + 4] = __double2int_rz(y);
    ints[6 * i + 5] = __double2int_rn(y);
    uints[2 * i] = __float2uint_rz(x);
    uints[2 * i + 1] = __double2uint_rd(y);
    longs[3 * i] = __float2ll_rz(x);
    longs[3 * i + 1] = __double2ll_rz(y);
    longs[3 * i + 2] = __double2ll_ru(y);
    ulongs[2 * i] = __float2ull_rz(x);
    ulongs[2 * i + 1] = __double2ull_rn(y);
    floats[6 * i] = __ll2float_rn(v);
    floats[6 * i + 1] = __ll2float_rz(v);
    floats[6 * i + 2] = __ull2float_ru((unsigned long long)v);
    floats[6 * i + 3] = __int2float_rd((int)v);
    floats[6 * i + 4] = __double2float_rn(y);
    floats[6 * i + 5] = __double2float_rz(y);
    doubles[3 * i] = __ll2double_rn(v);
    doubles[3 * i + 1] = __ull2double_rz((unsigned long long)v);
    doubles[3 * i + 2] = (double)x;
    shorts[i] = (short)(int)v;
}
