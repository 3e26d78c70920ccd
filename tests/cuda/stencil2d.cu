// Five-point Jacobi steps, double precision, buffers swapped between launches, clamped borders.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
extern "C" __global__ void stencil2d(const double* in, double* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int l = x > 0 ? x - 1 : 0, r = x < w - 1 ? x + 1 : w - 1;
    int u = y > 0 ? y - 1 : 0, d = y < h - 1 ? y + 1 : h - 1;
    double c = in[y * w + x];
    out[y * w + x] = c + 0.125 * (((in[y * w + l] + in[y * w + r]) + (in[u * w + x] + in[d * w + x])) - 4.0 * c);
}
