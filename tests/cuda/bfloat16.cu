// bfloat16: conversions both ways, arithmetic and fused multiply-add.
// targets: 12.9:compute_80 12.9:compute_90
// host: no
#include <cuda_bf16.h>
extern "C" __global__ void bfloat16(const float* a, const float* b, const float* c, __nv_bfloat16* out, float* back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16(b[i]), z = __float2bfloat16_rz(c[i]);
    out[4 * i] = x;
    out[4 * i + 1] = z;
    out[4 * i + 2] = __hfma(x, y, z);
    out[4 * i + 3] = __hmul_rn(x, y);
    back[i] = __bfloat162float(__hadd_rn(x, y)) + (__hlt(x, y) ? 64.0f : 0.0f);
}
