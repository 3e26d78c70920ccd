// MD5 of one-block messages, rounds by a switch inside an unrolled loop.
// targets: 12.9:compute_80 11.8:compute_35 11.8:compute_52:debug
// clang: sm_60
__constant__ unsigned sines[64];
__constant__ unsigned char turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

extern "C" __global__ void md5(const unsigned* blocks, unsigned* digests, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned* m = blocks + 16 * i;
    unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (int k = 0; k < 64; k++) {
        unsigned f;
        int g;
        switch (k >> 4) {
            case 0: f = (b & c) | (~b & d); g = k; break;
            case 1: f = (d & b) | (~d & c); g = 5 * k + 1; break;
            case 2: f = b ^ c ^ d; g = 3 * k + 5; break;
            default: f = c ^ (b | ~d); g = 7 * k; break;
        }
        f += a + sines[k] + m[g & 15];
        a = d;
        d = c;
        c = b;
        int by = turns[(k >> 4) * 4 + (k & 3)];
        b += f << by | f >> (32 - by);
    }
    digests[4 * i] = a + 0x67452301;
    digests[4 * i + 1] = b + 0xefcdab89;
    digests[4 * i + 2] = c + 0x98badcfe;
    digests[4 * i + 3] = d + 0x10325476;
}
