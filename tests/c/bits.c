// run: bits(n=16, a=uint32[16], out=uint32[16]=0)
#include <stdint.h>
static uint32_t reverse(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24;
}
static int ctz(uint32_t v) { int n = 0; if (!v) return 32; while (!(v & 1)) { v >>= 1; ++n; } return n; }
static unsigned isqrt(uint32_t v) { unsigned r = 0; for (unsigned b = 1u << 30; b; b >>= 2) { if (v >= r + b) { v -= r + b; r = r / 2 + b; } else r /= 2; } return r; }
uint64_t bits(int n, const uint32_t a[n], uint32_t out[n])
{
    uint64_t all = 0;
    uint16_t lfsr = 0xACE1u;
    for (int i = 0; i < n; i++) {
        lfsr = lfsr >> 1 ^ (-(lfsr & 1u) & 0xB400u);
        out[i] = reverse(a[i]) ^ lfsr ^ (a[i] >> 1 ^ a[i]);
        all += isqrt(a[i]) * (uint64_t)ctz(a[i]) + (a[i] & -a[i]);
        all = all << 7 | all >> 57;
        all ^= ~(uint64_t)0 >> (i & 31);
    }
    return all;
}
