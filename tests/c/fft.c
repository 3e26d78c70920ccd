// run: fft(x=int16[64,2]%2000)
#include <stdint.h>
#define N 64
typedef struct { int16_t re, im; } cpx;
static const int16_t sine[N] = {
    0, 3212, 6393, 9512, 12539, 15446, 18204, 20787, 23170, 25329, 27245, 28898, 30273, 31356, 32137, 32609,
    32767, 32609, 32137, 31356, 30273, 28898, 27245, 25329, 23170, 20787, 18204, 15446, 12539, 9512, 6393, 3212,
    0, -3212, -6393, -9512, -12539, -15446, -18204, -20787, -23170, -25329, -27245, -28898, -30273, -31356, -32137, -32609,
    -32767, -32609, -32137, -31356, -30273, -28898, -27245, -25329, -23170, -20787, -18204, -15446, -12539, -9512, -6393, -3212 };
void fft(cpx x[N])
{
    for (unsigned i = 1, j = 0; i < N; i++) {
        unsigned bit = N >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) { cpx t = x[i]; x[i] = x[j]; x[j] = t; }
    }
    for (int len = 2; len <= N; len <<= 1)
        for (int i = 0; i < N; i += len)
            for (int k = 0; k < len / 2; k++) {
                int at = k * (N / len);
                int wr = sine[(at + N / 4) % N], wi = -sine[at];
                cpx *a = &x[i + k], *b = &x[i + k + len / 2];
                int tr = (b->re * wr - b->im * wi) >> 15, ti = (b->re * wi + b->im * wr) >> 15;
                b->re = a->re - tr; b->im = a->im - ti;
                a->re += tr; a->im += ti;
            }
}
