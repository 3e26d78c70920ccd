// All four shuffles at several widths, 64-bit and floating values, sources outside the segment.
// targets: 12.9:compute_80 12.9:compute_75
extern "C" __global__ void shuffle_modes(const int* in, int* out, double* wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], k = 0;
    int* o = out + 16 * i;
    for (int width = 32; width >= 4; width /= 2) {
        o[k++] = __shfl_sync(0xffffffffu, v, 5, width);
        o[k++] = __shfl_up_sync(0xffffffffu, v, 3, width);
        o[k++] = __shfl_down_sync(0xffffffffu, v, 2, width);
        o[k++] = __shfl_xor_sync(0xffffffffu, v, 6, width);
    }
    double d = v * 1.5;
    wide[i] = __shfl_sync(0xffffffffu, d, v) + __shfl_xor_sync(0xffffffffu, d, 17);
}
