// Integer DCT of 8x8 blocks in fixed point, quantised, in shared memory: rows, then columns.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
__constant__ short basis[8][8];
__constant__ unsigned char steps[64];

extern "C" __global__ void dct8x8(const unsigned char* in, short* out, int w) {
    __shared__ int s[8][8], m[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int at = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
    s[y][x] = in[at] - 128;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += s[y][k] * basis[x][k];
    m[y][x] = (sum + 128) >> 8;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) sum += m[k][x] * basis[y][k];
    sum = (sum + 512) >> 10;
    out[at] = (short)(sum / steps[y * 8 + x]);
}
