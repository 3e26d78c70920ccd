// Median of 3x3 bytes by a network of minima and maxima on packed lanes, four pixels a thread.
// targets: 12.9:compute_80 11.8:compute_52
__device__ __forceinline__ void order(int& a, int& b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

extern "C" __global__ void median(const unsigned char* in, unsigned char* out, int w, int h) {
    int x0 = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h) return;
    for (int x = x0; x < x0 + 4 && x < w; x++) {
        int v[9];
#pragma unroll
        for (int k = 0; k < 9; k++) {
            int xx = min(max(x + k % 3 - 1, 0), w - 1), yy = min(max(y + k / 3 - 1, 0), h - 1);
            v[k] = in[yy * w + xx];
        }
        order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
        order(v[0], v[1]); order(v[3], v[4]); order(v[6], v[7]);
        order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
        order(v[0], v[3]); order(v[5], v[8]); order(v[4], v[7]);
        order(v[3], v[6]); order(v[1], v[4]); order(v[2], v[5]);
        order(v[4], v[7]); order(v[4], v[2]); order(v[6], v[4]);
        order(v[4], v[2]);
        out[y * w + x] = (unsigned char)v[4];
    }
}
