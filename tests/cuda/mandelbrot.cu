// Escape counts over a plane, in single and double precision.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
// options: --fmad=false
template <class T>
__device__ int escape(T cx, T cy, int limit) {
    T x = 0, y = 0;
    int k = 0;
    while (k < limit && x * x + y * y <= (T)4) {
        T next = x * x - y * y + cx;
        y = (T)2 * x * y + cy;
        x = next;
        k++;
    }
    return k;
}

extern "C" __global__ void mandelbrot(unsigned short* single_counts, unsigned short* double_counts, int w, int h, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    single_counts[py * w + px] = (unsigned short)escape(-2.0f + 0.0625f * px, -1.25f + 0.0625f * py, limit);
    double_counts[py * w + px] = (unsigned short)escape(-2.0 + 0.0625 * px, -1.25 + 0.0625 * py, limit);
}
