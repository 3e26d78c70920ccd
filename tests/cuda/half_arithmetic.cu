// Half precision: arithmetic, fused multiply-add, comparisons, minima and conversions, scalar and in pairs.
// targets: 12.9:compute_80 11.8:compute_53 12.9:compute_90
// host: no
#include <cuda_fp16.h>
extern "C" __global__ void half_scalars(const __half* a, const __half* b, const __half* c, __half* out, int* flags, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = a[i], y = b[i], z = c[i];
    __half* o = out + 8 * i;
    o[0] = __hadd_rn(x, y);
    o[1] = __hsub_rn(x, y);
    o[2] = __hmul_rn(x, y);
    o[3] = __hfma(x, y, z);
    o[4] = __hneg(x);
    o[5] = __habs(y);
    o[6] = __float2half(__half2float(x) * 1.5f);
    o[7] = __int2half_rn(__half2int_rz(x) * 3);
    flags[i] = __hlt(x, y) | __hle(x, y) << 1 | __heq(x, y) << 2 | __hgt(x, y) << 3 | __hge(x, y) << 4 | __hne(x, y) << 5;
}

extern "C" __global__ void half_pairs(const __half2* a, const __half2* b, const __half2* c, __half2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i], z = c[i];
    __half2* o = out + 6 * i;
    o[0] = __hadd2_rn(x, y);
    o[1] = __hmul2_rn(x, y);
    o[2] = __hfma2(x, y, z);
    o[3] = __hneg2(x);
    o[4] = __lowhigh2highlow(x);
    o[5] = __floats2half2_rn(__low2float(x) + 1.0f, __high2float(y));
}
