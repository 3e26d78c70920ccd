// run: fir(n=64, taps=8, x=int16[71], h=int16[8]%8191, y=int16[64]=0)
// run: fir(n=1, taps=1, x=int16[1], h=int16[1], y=int16[1]=0)
// run: fir(n=0, taps=4, x=int16[3], h=int16[4], y=int16[0]=0)
#include <stdint.h>
void fir(int n, int taps, const int16_t x[n + taps - 1], const int16_t h[taps], int16_t y[n])
{
    for (int i = 0; i < n; i++) {
        int32_t acc = 1 << 14;
        for (int t = 0; t < taps; t++)
            acc += x[i + t] * h[t];
        y[i] = acc >> 15;
    }
}
