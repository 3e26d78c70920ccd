// Matrix multiply of halves with accumulation in halves and in floats.
// targets: 12.9:compute_80 12.9:compute_75
// host: no
#include <cuda_fp16.h>
extern "C" __global__ void half_matmul(const __half* a, const __half* b, __half* c, float* wide, int n) {
    __shared__ __half as[8][8], bs[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    __half sum = __float2half(0.0f);
    float total = 0.0f;
    for (int base = 0; base < n; base += 8) {
        as[ty][tx] = a[row * n + base + tx];
        bs[ty][tx] = b[(base + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            sum = __hfma(as[ty][k], bs[k][tx], sum);
            total = fmaf(__half2float(as[ty][k]), __half2float(bs[k][tx]), total);
        }
        __syncthreads();
    }
    c[row * n + col] = sum;
    wide[row * n + col] = total;
}
