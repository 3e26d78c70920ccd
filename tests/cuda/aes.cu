// AES-128 in counter mode: tables built in shared memory by each block, key schedule in the first warp.
// targets: 12.9:compute_80 11.8:compute_52
typedef unsigned char u8;
__device__ __forceinline__ u8 twice(u8 v) { return (u8)(v << 1 ^ (v & 0x80 ? 0x1b : 0)); }
__device__ u8 product(u8 a, u8 b) {
    u8 r = 0;
    while (b) {
        if (b & 1) r ^= a;
        a = twice(a);
        b >>= 1;
    }
    return r;
}

extern "C" __global__ void aes_ctr(const u8* key, const u8* nonce, const u8* in, u8* out, int n) {
    __shared__ u8 box[256];
    __shared__ u8 schedule[176];
    __shared__ unsigned t0[256];
    for (int v = threadIdx.x; v < 256; v += blockDim.x) {
        u8 inverse = 1, base = (u8)v;
        for (int e = 254; e; e >>= 1) {
            if (e & 1) inverse = product(inverse, base);
            base = product(base, base);
        }
        u8 s = 0x63;
        for (int k = 0; k < 5; k++) s ^= (u8)(inverse << k | inverse >> (8 - k));
        box[v] = s;
        u8 d = twice(s);
        t0[v] = d | s << 8 | s << 16 | (unsigned)(u8)(d ^ s) << 24;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u8 round = 1;
        for (int k = 0; k < 16; k++) schedule[k] = key[k];
        for (int k = 16; k < 176; k += 4) {
            u8 w[4];
            for (int b = 0; b < 4; b++) w[b] = schedule[k - 4 + b];
            if (k % 16 == 0) {
                u8 first = w[0];
                w[0] = box[w[1]] ^ round;
                w[1] = box[w[2]];
                w[2] = box[w[3]];
                w[3] = box[first];
                round = twice(round);
            }
            for (int b = 0; b < 4; b++) schedule[k + b] = schedule[k - 16 + b] ^ w[b];
        }
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (16 * i >= n) return;
    unsigned s[4], r[4];
    for (int c = 0; c < 4; c++) {
        unsigned v = 0;
        for (int b = 0; b < 4; b++) {
            int k = 4 * c + b;
            u8 byte = k < 12 ? nonce[k] : (u8)((unsigned)i >> (8 * (15 - k)));
            v |= (unsigned)(byte ^ schedule[k]) << 8 * b;
        }
        s[c] = v;
    }
    for (int round = 1; round < 10; round++) {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            unsigned v1 = t0[s[(c + 1) & 3] >> 8 & 255], v2 = t0[s[(c + 2) & 3] >> 16 & 255], v3 = t0[s[(c + 3) & 3] >> 24];
            r[c] = t0[s[c] & 255] ^ __funnelshift_l(v1, v1, 8) ^ __funnelshift_l(v2, v2, 16) ^ __funnelshift_l(v3, v3, 24);
        }
        for (int c = 0; c < 4; c++) s[c] = r[c] ^ *(const unsigned*)&schedule[16 * round + 4 * c];
    }
    for (int c = 0; c < 4; c++)
        for (int b = 0; b < 4; b++) {
            int k = 4 * c + b;
            u8 v = box[s[(c + b) & 3] >> 8 * b & 255] ^ schedule[160 + k];
            if (16 * i + k < n) out[16 * i + k] = in[16 * i + k] ^ v;
        }
}
