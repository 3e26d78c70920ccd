// ChaCha20 blocks with all rounds unrolled: thousands of instructions in one basic block.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_60
__device__ __forceinline__ unsigned turn(unsigned v, int by) { return v << by | v >> (32 - by); }
#define QUARTER(a, b, c, d)        \
    a += b; d = turn(d ^ a, 16);   \
    c += d; b = turn(b ^ c, 12);   \
    a += b; d = turn(d ^ a, 8);    \
    c += d; b = turn(b ^ c, 7);

extern "C" __global__ void unrolled_rounds(const unsigned* key, const unsigned* nonce, unsigned counter, unsigned* out, int blocks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    unsigned s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1], key[2], key[3],
                      key[4], key[5], key[6], key[7], counter + i, nonce[0], nonce[1], nonce[2]};
    unsigned v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) v[k] = s[k];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        QUARTER(v[0], v[4], v[8], v[12])
        QUARTER(v[1], v[5], v[9], v[13])
        QUARTER(v[2], v[6], v[10], v[14])
        QUARTER(v[3], v[7], v[11], v[15])
        QUARTER(v[0], v[5], v[10], v[15])
        QUARTER(v[1], v[6], v[11], v[12])
        QUARTER(v[2], v[7], v[8], v[13])
        QUARTER(v[3], v[4], v[9], v[14])
    }
#pragma unroll
    for (int k = 0; k < 16; k++) out[16 * i + k] = v[k] + s[k];
}
