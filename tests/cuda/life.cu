// Conway's game on a torus: cells as bytes, and as bit rows of 64 with carry-save counting.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void life_bytes(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) n += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

typedef unsigned long long u64;
__device__ __forceinline__ u64 turn(u64 v, int by) { return v << by | v >> (64 - by); }
__device__ __forceinline__ void add(u64 v, u64& ones, u64& twos, u64& fours) {
    u64 c = ones & v;
    ones ^= v;
    u64 d = twos & c;
    twos ^= c;
    fours |= d;
}

extern "C" __global__ void life_bits(const u64* in, u64* out, int h) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    u64 above = in[(y + h - 1) % h], here = in[y], below = in[(y + 1) % h];
    u64 ones = 0, twos = 0, fours = 0;
    add(above, ones, twos, fours);
    add(turn(above, 1), ones, twos, fours);
    add(turn(above, 63), ones, twos, fours);
    add(turn(here, 1), ones, twos, fours);
    add(turn(here, 63), ones, twos, fours);
    add(below, ones, twos, fours);
    add(turn(below, 1), ones, twos, fours);
    add(turn(below, 63), ones, twos, fours);
    out[y] = twos & ~fours & (ones | here);
}
