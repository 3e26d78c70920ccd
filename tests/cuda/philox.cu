// Philox 4x32-10 counter-based generator, results as vectors and as floats.
// targets: 12.9:compute_80 11.8:compute_52
__device__ uint4 round_of(uint4 c, uint2 k) {
    unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    return make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
}

extern "C" __global__ void philox(unsigned long long seed, unsigned long long offset, uint4* out, float4* unit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 c = make_uint4((unsigned)offset, (unsigned)(offset >> 32), (unsigned)i, 0u);
    uint2 k = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    for (int r = 0; r < 10; r++) {
        c = round_of(c, k);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    out[i] = c;
    unit[i] = make_float4((c.x >> 8) * 0x1p-24f, (c.y >> 8) * 0x1p-24f, (c.z >> 8) * 0x1p-24f, (c.w >> 8) * 0x1p-24f);
}
