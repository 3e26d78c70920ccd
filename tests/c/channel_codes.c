// run: viterbi(nbits=60, sym=uint8[120]%7, path=uint8[60]=0)
// run: viterbi(nbits=1, sym=uint8[2]%7, path=uint8[1]=0)
// run: viterbi(nbits=0, sym=uint8[0]%7, path=uint8[0]=0)
// run: conv_encode(n=80, bits=uint8[80]%1, out=uint8[160]=0)
// run: conv_encode(n=1, bits=uint8[1]%1, out=uint8[2]=0)
// run: crc16_ccitt(len=90, buf=uint8[90], seed=65535)
// run: crc16_ccitt(len=0, buf=uint8[0], seed=65535)
// run: crc8_maxim(len=55, buf=uint8[55])
// run: crc8_maxim(len=1, buf=uint8[1])
// run: crc32_tab(len=70, p=uint8[70])
// run: crc32_tab(len=0, p=uint8[0])
// run: crc24(len=40, p=uint8[40])
// run: adler32(len=120, p=uint8[120])
// run: adler32(len=1, p=uint8[1])
// run: adler32(len=0, p=uint8[0])
// run: fletcher16(len=100, p=uint8[100])
// run: interleave(rows=8, cols=12, in=uint8[96], out=uint8[96]=0)
// run: interleave(rows=1, cols=1, in=uint8[1], out=uint8[1]=0)
// run: interleave(rows=0, cols=5, in=uint8[0], out=uint8[0]=0)
// run: deinterleave_qpp(K=64, f1=7, f2=16, in=int8[64], out=int8[64]=0)
// run: deinterleave_qpp(K=1, f1=1, f2=0, in=int8[1], out=int8[1]=0)
// run: scramble(n=120, d=uint8[120]%1, seed=93)
// run: scramble(n=0, d=uint8[0]%1, seed=93)
// run: lfsr16(n=64, seed=44257, out=uint16[64]=0)
// run: lfsr16(n=1, seed=44257, out=uint16[1]=0)
// run: galois_lfsr_bits(nbytes=40, seed=305419896, out=uint8[40]=0)
// run: gold_code(n=100, c_init=12345, c=uint8[100]=0)
// run: gold_code(n=1, c_init=12345, c=uint8[1]=0)
// run: prbs7_check(n=127, rx=uint8[127]%1)
// run: hamming74(n=50, nib=uint8[50], cw=uint8[50]=0, dec=uint8[50]=0)
// run: hamming74(n=0, nib=uint8[0], cw=uint8[0]=0, dec=uint8[0]=0)
// run: manchester(n=30, d=uint8[30], out=uint16[30]=0)
// run: parity_bits(n=44, w=uint32[44], p=uint8[44]=0)
// run: rs_syndromes(n=60, nsym=8, msg=uint8[60], syn=uint8[8]=0)
// run: rs_syndromes(n=1, nsym=1, msg=uint8[1], syn=uint8[1]=0)
// run: gray(n=64, x=uint16[64], g=uint16[64]=0, b=uint16[64]=0)
#include <stdint.h>
#include <string.h>
#define K_ 5
#define NSTATES (1 << (K_ - 1))
#define POLY_A 0x13
#define POLY_B 0x1d
static inline int parity(unsigned x) { x ^= x >> 8; x ^= x >> 4; x ^= x >> 2; x ^= x >> 1; return x & 1; }
static uint16_t metrics[2][NSTATES];
static uint8_t decisions[256][NSTATES];
void viterbi(int nbits, const uint8_t sym[2 * nbits], uint8_t path[nbits])
{
    for (int s = 1; s < NSTATES; s++) metrics[0][s] = 1000;
    for (int t = 0; t < nbits; t++) {
        const uint16_t *old = metrics[t & 1];
        uint16_t *new = metrics[(t & 1) ^ 1];
        for (int s = 0; s < NSTATES; s++) {
            int p0 = s >> 1, p1 = (s >> 1) | (NSTATES / 2);
            int in = s & 1;
            unsigned r0 = (p0 << 1) | in, r1 = (p1 << 1) | in;
            int e0 = parity(r0 & POLY_A) * 7, f0 = parity(r0 & POLY_B) * 7;
            int e1 = parity(r1 & POLY_A) * 7, f1 = parity(r1 & POLY_B) * 7;
            int y0 = sym[2 * t], y1 = sym[2 * t + 1];
            int d0 = (e0 > y0 ? e0 - y0 : y0 - e0) + (f0 > y1 ? f0 - y1 : y1 - f0);
            int d1 = (e1 > y0 ? e1 - y0 : y0 - e1) + (f1 > y1 ? f1 - y1 : y1 - f1);
            unsigned m0 = old[p0] + d0, m1 = old[p1] + d1;
            int dec = m1 < m0;
            new[s] = dec ? m1 : m0;
            decisions[t][s] = dec;
        }
    }
    int best = 0;
    for (int s = 1; s < NSTATES; s++)
        if (metrics[nbits & 1][s] < metrics[nbits & 1][best]) best = s;
    int st = best;
    for (int t = nbits; t-- > 0;) {
        path[t] = st & 1;
        st = (st >> 1) | (decisions[t][st] ? NSTATES / 2 : 0);
    }
}
void conv_encode(int n, const uint8_t bits[n], uint8_t out[2 * n])
{
    unsigned sr = 0;
    uint8_t *o = out;
    for (int i = 0; i < n; i++) {
        sr = ((sr << 1) | (bits[i] & 1)) & 0x1f;
        *o++ = parity(sr & POLY_A);
        *o++ = parity(sr & POLY_B);
    }
}
uint16_t crc16_ccitt(uint16_t len, const uint8_t buf[len], uint16_t seed)
{
    uint16_t crc = seed;
    const uint8_t *p = buf;
    while (len--) {
        uint8_t x = crc >> 8 ^ *p++;
        x ^= x >> 4;
        crc = (crc << 8) ^ ((uint16_t)(x << 12)) ^ ((uint16_t)(x << 5)) ^ ((uint16_t)x);
    }
    return crc;
}
uint8_t crc8_maxim(uint8_t len, const uint8_t buf[len])
{
    uint8_t crc = 0;
    for (uint8_t i = 0; i < len; i++) {
        uint8_t in = buf[i];
        for (uint8_t j = 8; j; j--) {
            uint8_t mix = (crc ^ in) & 0x01;
            crc >>= 1;
            if (mix) crc ^= 0x8C;
            in >>= 1;
        }
    }
    return crc;
}
static uint32_t tab32[256];
static void make_tab(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int j = 0; j < 8; ++j) c = (c & 1) ? (0xEDB88320u ^ (c >> 1)) : (c >> 1);
        tab32[i] = c;
    }
}
uint32_t crc32_tab(unsigned len, const uint8_t p[len])
{
    make_tab();
    uint32_t crc = ~0u;
    while (len--) crc = tab32[(crc ^ *p++) & 0xff] ^ (crc >> 8);
    return ~crc;
}
uint32_t crc24(int len, const uint8_t p[len])
{
    uint32_t crc = 0xb704ceL;
    while (len--) {
        crc ^= (*p++) << 16;
        for (int i = 0; i < 8; i++) {
            crc <<= 1;
            if (crc & 0x1000000) crc ^= 0x1864cfbL;
        }
    }
    return crc & 0xffffffL;
}
uint32_t adler32(unsigned len, const uint8_t p[len])
{
    uint32_t s1 = 1, s2 = 0;
    for (unsigned n = 0; n < len; n++) {
        s1 = (s1 + p[n]) % 65521;
        s2 = (s2 + s1) % 65521;
    }
    return (s2 << 16) | s1;
}
uint16_t fletcher16(unsigned len, const uint8_t p[len])
{
    uint32_t c0 = 0, c1 = 0;
    unsigned i = 0;
    while (len > 0) {
        unsigned blk = len > 21 ? 21 : len;
        len -= blk;
        do { c0 = c0 + p[i++]; c1 = c1 + c0; } while (--blk);
        c0 = (c0 & 0xff) + (c0 >> 8);
        c1 = (c1 & 0xff) + (c1 >> 8);
    }
    c0 %= 255; c1 %= 255;
    return c1 << 8 | c0;
}
void interleave(int rows, int cols, const uint8_t in[rows * cols], uint8_t out[cols * rows])
{
    int k = 0;
    for (int c = 0; c < cols; c++)
        for (int r = 0; r < rows; r++)
            out[k++] = in[r * cols + c];
}
void deinterleave_qpp(uint32_t K, uint32_t f1, uint32_t f2, const int8_t in[K], int8_t out[K])
{
    for (uint32_t i = 0; i < K; i++)
        out[(f1 * i + f2 * i * i) % K] = in[i];
}
void scramble(int n, uint8_t d[n], uint8_t seed)
{
    uint8_t sr = seed & 0x7f;
    for (int i = 0; i < n; i++) {
        uint8_t fb = ((sr >> 6) ^ (sr >> 3)) & 1;
        sr = ((sr << 1) | fb) & 0x7f;
        d[i] ^= fb;
    }
}
void lfsr16(int n, uint16_t seed, uint16_t out[n])
{
    uint16_t lfsr = seed;
    unsigned bit;
    int i = 0;
    do {
        if (i >= n) break;
        bit = ((lfsr >> 0) ^ (lfsr >> 2) ^ (lfsr >> 3) ^ (lfsr >> 5)) & 1u;
        lfsr = (lfsr >> 1) | (bit << 15);
        out[i++] = lfsr;
    } while (1);
}
void galois_lfsr_bits(int nbytes, uint32_t seed, uint8_t out[nbytes])
{
    uint32_t s = seed;
    for (int i = 0; i < nbytes; i++) {
        uint8_t byte = 0;
        for (int b = 7; b >= 0; b--) {
            uint32_t lsb = s & 1u;
            s >>= 1;
            s ^= (-lsb) & 0xA3000000u;
            byte |= lsb << b;
        }
        out[i] = byte;
    }
}
void gold_code(int n, uint32_t c_init, uint8_t c[n])
{
    uint32_t x1 = 1, x2 = c_init;
    for (int i = 0; i < 100; i++) {
        uint32_t f1 = ((x1 >> 3) ^ x1) & 1, f2 = ((x2 >> 3) ^ (x2 >> 2) ^ (x2 >> 1) ^ x2) & 1;
        x1 = (x1 >> 1) | (f1 << 30);
        x2 = (x2 >> 1) | (f2 << 30);
    }
    for (int i = 0; i < n; i++) {
        c[i] = (x1 ^ x2) & 1;
        uint32_t f1 = ((x1 >> 3) ^ x1) & 1, f2 = ((x2 >> 3) ^ (x2 >> 2) ^ (x2 >> 1) ^ x2) & 1;
        x1 = (x1 >> 1) | (f1 << 30);
        x2 = (x2 >> 1) | (f2 << 30);
    }
}
int prbs7_check(int n, const uint8_t rx[n])
{
    uint8_t st = 0x7f; int errs = 0;
    for (int i = 0; i < n; i++) {
        uint8_t b = (uint8_t)(((st >> 6) ^ (st >> 5)) & 1);
        st = (uint8_t)((st << 1) | b);
        errs += (b != rx[i]);
    }
    return errs;
}
static const uint8_t syn_pos[8] = { 0, 1, 2, 4, 8, 16, 32, 64 };
void hamming74(int n, const uint8_t nib[n], uint8_t cw[n], uint8_t dec[n])
{
    for (int i = 0; i < n; i++) {
        uint8_t d = nib[i] & 15;
        uint8_t p1 = (d ^ d >> 1 ^ d >> 3) & 1, p2 = (d ^ d >> 2 ^ d >> 3) & 1, p4 = (d >> 1 ^ d >> 2 ^ d >> 3) & 1;
        cw[i] = p1 | p2 << 1 | (d & 1) << 2 | p4 << 3 | (d >> 1 & 1) << 4 | (d >> 2 & 1) << 5 | (d >> 3) << 6;
        uint8_t r = cw[i] ^ syn_pos[nib[i] >> 5];
        uint8_t s = ((r ^ r >> 2 ^ r >> 4 ^ r >> 6) & 1) | ((r >> 1 ^ r >> 2 ^ r >> 5 ^ r >> 6) & 1) << 1
                  | ((r >> 3 ^ r >> 4 ^ r >> 5 ^ r >> 6) & 1) << 2;
        if (s) r ^= 1 << (s - 1);
        dec[i] = (r >> 2 & 1) | (r >> 4 & 1) << 1 | (r >> 5 & 1) << 2 | (r >> 6 & 1) << 3;
    }
}
void manchester(int n, const uint8_t d[n], uint16_t out[n])
{
    for (int i = 0; i < n; i++) {
        uint16_t o = 0;
        for (uint8_t m = 0x80; m; m >>= 1) { o <<= 2; o |= (d[i] & m) ? 0x2 : 0x1; }
        out[i] = o;
    }
}
void parity_bits(int n, const uint32_t w[n], uint8_t p[n])
{
    for (int i = 0; i < n; i++) {
        uint32_t v = w[i];
        v ^= v >> 16; v ^= v >> 8; v ^= v >> 4; v &= 0xf;
        p[i] = (0x6996 >> v) & 1;
    }
}
static uint8_t gexp[512], glog[256];
static uint8_t gmul(uint8_t a, uint8_t b)
{
    if (a == 0 || b == 0) return 0;
    return gexp[glog[a] + glog[b]];
}
void rs_syndromes(int n, int nsym, const uint8_t msg[n], uint8_t syn[nsym])
{
    unsigned x = 1;
    for (int i = 0; i < 255; i++) {
        gexp[i] = x; glog[x] = i;
        x <<= 1;
        if (x & 0x100) x ^= 0x11d;
    }
    for (int i = 255; i < 512; i++) gexp[i] = gexp[i - 255];
    for (int j = 0; j < nsym; j++) {
        uint8_t s = 0, r = gexp[j];
        for (int i = 0; i < n; i++) s = gmul(s, r) ^ msg[i];
        syn[j] = s;
    }
}
void gray(int n, const uint16_t x[n], uint16_t g[n], uint16_t b[n])
{
    for (int i = 0; i < n; i++) {
        g[i] = x[i] ^ (x[i] >> 1);
        uint16_t t = g[i];
        for (int s = 8; s; s >>= 1) t ^= t >> s;
        b[i] = t;
    }
}
