// run: signs(n=150, a=int32[150], b=int32[150], q=int32[150]=0, r=int32[150]=0)
// run: signs(n=150, a=int32[150], b=int32[150]%50, q=int32[150]=0, r=int32[150]=0)
// run: signs(n=0, a=int32[0], b=int32[0], q=int32[0]=0, r=int32[0]=0)
// run: plain(n=150, a=uint32[150], b=uint32[150], q=uint32[150]=0, r=uint32[150]=0)
// run: plain(n=150, a=uint32[150], b=uint32[150]%900, q=uint32[150]=0, r=uint32[150]=0)
// run: plain(n=1, a=uint32[1], b=uint32[1], q=uint32[1]=0, r=uint32[1]=0)
// run: halves(n=130, a=int16[130], b=uint8[130], q=int16[130]=0)
// run: halves(n=1, a=int16[1], b=uint8[1], q=int16[1]=0)
// run: guarded(n=140, a=int16[140], b=int16[140]%3, q=int16[140]=0)
// run: averages(n=100, w=7, x=int16[100], y=int16[100]=0)
// run: averages(n=5, w=7, x=int16[5], y=int16[5]=0)
// run: areas(w=20, h=12, r=2, sum=uint32[273]%100000, dst=uint8[240]=0)
// run: kalman(n=70, z=int16[70], est=int16[70]=0)
// run: gcds(n=60, a=uint16[60], b=uint16[60], g=uint16[60]=0)
// run: extremes(q=int32[81]=0, r=int32[81]=0, uq=uint32[81]=0, ur=uint32[81]=0)
// Divisions by what a loop computes.
#include <stdint.h>
void signs(int n, const int32_t a[n], const int32_t b[n], int32_t q[n], int32_t r[n])
{
    for (int i = 0; i < n; i++) {
        int32_t d = b[i] | 1;
        q[i] = a[i] / d;
        r[i] = a[i] % d;
    }
}
void plain(int n, const uint32_t a[n], const uint32_t b[n], uint32_t q[n], uint32_t r[n])
{
    for (int i = 0; i < n; i++) {
        uint32_t d = b[i] ? b[i] : 1;
        q[i] = a[i] / d;
        r[i] = a[i] % d;
    }
}
void halves(int n, const int16_t a[n], const uint8_t b[n], int16_t q[n])
{
    for (int i = 0; i < n; i++) q[i] = a[i] / (b[i] + 1) + a[i] % (b[i] - 300);
}
void guarded(int n, const int16_t a[n], const int16_t b[n], int16_t q[n])
{
    for (int i = 0; i < n; i++) {
        if (b[i] == 0) { q[i] = 32767; continue; }
        q[i] = a[i] / b[i];
    }
}
void averages(int n, int w, const int16_t x[n], int16_t y[n])
{
    int32_t s = 0;
    for (int i = 0; i < n; i++) {
        s += x[i];
        if (i >= w) s -= x[i - w];
        y[i] = s / (i < w ? i + 1 : w);
    }
}
void areas(int w, int h, int r, const uint32_t sum[(w + 1) * (h + 1)], uint8_t dst[w * h])
{
    const int s = w + 1;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int x0 = x - r < 0 ? 0 : x - r, x1 = x + r + 1 > w ? w : x + r + 1;
            int y0 = y - r < 0 ? 0 : y - r, y1 = y + r + 1 > h ? h : y + r + 1;
            uint32_t t = sum[y1 * s + x1] - sum[y1 * s + x0] - sum[y0 * s + x1] + sum[y0 * s + x0];
            dst[y * w + x] = t / ((x1 - x0) * (y1 - y0));
        }
}
void kalman(int n, const int16_t z[n], int16_t est[n])
{
    int32_t x = 0, p = 1 << 12;
    for (int i = 0; i < n; i++) {
        p += 200;
        int32_t k = (p << 14) / (p + 5000);
        x += k * (z[i] - x) >> 14;
        p -= k * p >> 14;
        est[i] = x;
    }
}
void gcds(int n, const uint16_t a[n], const uint16_t b[n], uint16_t g[n])
{
    for (int i = 0; i < n; i++) {
        uint16_t x = a[i], y = b[i];
        while (y) { uint16_t t = x % y; x = y; y = t; }
        g[i] = x;
    }
}
static const int32_t numbers[9] = { 1, 2, -1, -2, 0x7fffffff, -0x7fffffff - 1, 0x10000, -0x8001, 12345 };
void extremes(int32_t q[81], int32_t r[81], uint32_t uq[81], uint32_t ur[81])
{
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++) {
            int32_t a = numbers[i], b = numbers[k];
            if (b == -1 && a == -0x7fffffff - 1) continue;
            q[i * 9 + k] = a / b;
            r[i * 9 + k] = a % b;
            uq[i * 9 + k] = (uint32_t)a / (uint32_t)b;
            ur[i * 9 + k] = (uint32_t)a % (uint32_t)b;
        }
}
