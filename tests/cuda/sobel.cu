// Sobel edges of a byte image: signed sums, integer square root by bits, borders copied.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
__device__ unsigned root(unsigned v) {
    unsigned r = 0;
    for (unsigned bit = 1u << 10; bit; bit >>= 1) {
        unsigned t = r | bit;
        if (t * t <= v) r = t;
    }
    return r;
}

extern "C" __global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[y * w + x] = in[y * w + x];
        return;
    }
    const unsigned char* p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
    unsigned g = root((unsigned)(gx * gx + gy * gy));
    out[y * w + x] = (unsigned char)(g > 255 ? 255 : g);
}
