// run: means(n=96, r=8, x=int16[96], y=int16[12]=0)
// run: means(n=7, r=8, x=int16[7], y=int16[0]=0)
// run: means(n=0, r=3, x=int16[0], y=int16[0]=0)
// run: combs(n=160, x=int16[160], y=int32[20]=0)
// run: combs(n=8, x=int16[8], y=int32[1]=0)
// run: kept(n=120, x=int16[120], t=9000, y=int16[60]=0)
// run: kept(n=0, x=int16[0], t=9000, y=int16[0]=0)
// run: both(n=100, x=int16[100], low=int16[50]=0, high=int16[100]=0)
// What is put out in some iterations only, into arrays without room for more.
#include <stdint.h>
void means(int n, int r, const int16_t x[n], int16_t y[n / r])
{
    int32_t s = 0;
    int o = 0;
    for (int i = 0, c = 0; i < n; i++) {
        s += x[i];
        if (++c == r) { y[o++] = s >> 3; s = 0; c = 0; }
    }
}
void combs(int n, const int16_t x[n], int32_t y[n / 8])
{
    int32_t a = 0, b = 0, last = 0, before = 0;
    unsigned o = 0;
    for (int i = 0; i < n; i++) {
        a += x[i];
        b += a;
        if ((i & 7) == 7) {
            int32_t d = b - last, e = d - before;
            last = b;
            before = d;
            y[o++] = e >> 6;
        }
    }
}
int kept(int n, const int16_t x[n], int t, int16_t y[n / 2])
{
    int o = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > t && o < n / 2) y[o++] = x[i];
    return o;
}
int both(int n, const int16_t x[n], int16_t low[n / 2], int16_t high[n])
{
    int l = 0, h = 0;
    for (int i = 0; i < n; i++)
        if (i % 2) low[l++] = x[i];
        else high[h++] = x[i];
    return l * 1000 + h;
}
