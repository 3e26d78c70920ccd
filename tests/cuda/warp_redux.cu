// Warp reductions in one instruction, signed and unsigned, over full and partial masks.
// targets: 12.9:compute_80 12.9:compute_90
extern "C" __global__ void warp_redux(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i];
    unsigned u = (unsigned)v;
    int* o = out + 10 * i;
    o[0] = __reduce_add_sync(0xffffffffu, v);
    o[1] = __reduce_min_sync(0xffffffffu, v);
    o[2] = __reduce_max_sync(0xffffffffu, v);
    o[3] = (int)__reduce_min_sync(0xffffffffu, u);
    o[4] = (int)__reduce_max_sync(0xffffffffu, u);
    o[5] = (int)__reduce_and_sync(0xffffffffu, u | 0xf0u);
    o[6] = (int)__reduce_or_sync(0xffffffffu, u & 0x0ff00ff0u);
    o[7] = (int)__reduce_xor_sync(0xffffffffu, u);
    if (lane < 13) o[8] = __reduce_add_sync(0x1fffu, v);
    else o[8] = __reduce_max_sync(0xffffe000u, v);
    o[9] = (int)__reduce_add_sync(0xffffffffu, u & 0xffffu);
}
