// Seven-point stencil over a volume, marching in z with the three planes in registers.
// targets: 12.9:compute_90 11.8:compute_52
// options: --fmad=false -lineinfo
extern "C" __global__ __launch_bounds__(64) void stencil3d(const float* __restrict__ in, float* __restrict__ out,
                                                           int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;
    int plane = nx * ny, at = y * nx + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < nz - 1; z++) {
        at += plane;
        float above = in[at + plane];
        float sum = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + below + above;
        out[at] = 0.4f * here + 0.1f * sum;
        below = here;
        here = above;
    }
}
