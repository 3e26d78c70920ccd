// run: nco(n=50, step=123456789, phase=uint32[1], out=int16[50,2]=0)
#include <stdint.h>
static const int16_t wave[17] = { 0, 3212, 6393, 9512, 12539, 15446, 18204, 20787, 23170, 25329, 27245, 28898, 30273, 31356, 32137, 32609, 32767 };
static int16_t sine(uint32_t phase)
{
    unsigned at = phase >> 26, q = at >> 4, i = at & 15;
    int16_t v = q & 1 ? wave[16 - i] : wave[i];
    return q & 2 ? -v : v;
}
void nco(int n, uint32_t step, uint32_t *phase, int16_t out[n][2])
{
    uint32_t p = *phase;
    for (int i = 0; i < n; i++, p += step) {
        out[i][0] = sine(p + (1u << 30));
        out[i][1] = sine(p);
    }
    *phase = p;
}
