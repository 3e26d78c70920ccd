// Arithmetic of 8- and 16-bit integers: promotion, wrap-around, division, shifts and comparisons.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug
// clang: sm_60
extern "C" __global__ void small_integers(const signed char* a, const unsigned char* b, const short* c, const unsigned short* d, signed char* o8, unsigned char* u8, short* o16, unsigned short* u16, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    signed char x = a[i];
    unsigned char y = b[i];
    short z = c[i];
    unsigned short w = d[i];
    o8[4 * i] = (signed char)(x + y);
    o8[4 * i + 1] = (signed char)(x * 3 - z);
    o8[4 * i + 2] = (signed char)(y ? x / (int)y : x >> 2);
    o8[4 * i + 3] = (signed char)(z ? x % z : -x);
    u8[4 * i] = (unsigned char)(y - 200);
    u8[4 * i + 1] = (unsigned char)(y * y >> 4);
    u8[4 * i + 2] = (unsigned char)(y << (x & 7));
    u8[4 * i + 3] = (unsigned char)(x > 0 ? y / (unsigned char)x : y);
    o16[4 * i] = (short)(z * w);
    o16[4 * i + 1] = (short)(z >> (y & 15));
    o16[4 * i + 2] = (short)(w ? z / w : 0);
    o16[4 * i + 3] = z < w ? z : (short)w;
    u16[4 * i] = (unsigned short)(w << (y & 15));
    u16[4 * i + 1] = (unsigned short)(w >> 3 | z << 13);
    u16[4 * i + 2] = (unsigned short)(y ? w % y : w);
    u16[4 * i + 3] = (unsigned short)max((int)w, (int)z);
}
