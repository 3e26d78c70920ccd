// run: upto(n=99, x=uint16[100], y=uint16[100]=0)
// run: upto(n=0, x=uint16[1], y=uint16[1]=0)
// run: steps(n=200, x=uint8[200], y=uint8[200]=0)
// run: steps(n=255, x=uint8[255], y=uint8[255]=0)
// run: steps(n=1, x=uint8[1], y=uint8[1]=0)
// run: steps(n=0, x=uint8[0], y=uint8[0]=0)
// run: down(n=60, m=3, x=int8[61], y=int8[61]=0)
// run: down(n=2, m=3, x=int8[3], y=int8[3]=0)
// run: inner(w=20, h=9, x=uint8[180], y=uint8[180]=0)
// run: inner(w=2, h=2, x=uint8[4], y=uint8[4]=0)
// run: inner(w=0, h=0, x=uint8[0], y=uint8[0]=0)
// run: wraps(n=255, y=uint32[1]=0)
// run: wraps(n=9, y=uint32[1]=0)
// run: rows(w=12, h=7, x=int16[91], y=int16[7]=0)
// run: rows(w=0, h=0, x=int16[1], y=int16[0]=0)
// run: thirds(n=3000, y=uint16[1000]=0)
// run: long_bound(m=70, y=uint8[70]=0)
// run: long_bound(m=0, y=uint8[0]=0)
// Counters of 8 and 16 bits that wrap for some bounds only.
#include <stdint.h>
void upto(uint16_t n, const uint16_t x[n + 1], uint16_t y[n + 1])
{
    for (uint16_t i = 0; i <= n; i++) y[i] = x[i] * 3 + i;
}
void steps(uint8_t n, const uint8_t x[n], uint8_t y[n])
{
    for (uint16_t i = 0; i < n; i += 2) y[i] = x[i] + 1;
    for (uint8_t i = 1; i < (n & 0xfe); i += 2) y[i] = x[i] - 1;
}
void down(int8_t n, int8_t m, const int8_t x[n + 1], int8_t y[n + 1])
{
    for (int8_t i = n; i >= m; i--) y[i] = x[i] ^ i;
}
void inner(uint16_t w, uint16_t h, const uint8_t x[w * h], uint8_t y[w * h])
{
    for (uint16_t r = 1; r + 1 < h; r++)
        for (uint16_t c = 1; c + 1 < w; c++)
            y[r * w + c] = (x[(r - 1) * w + c] + x[(r + 1) * w + c] + x[r * w + c - 1] + x[r * w + c + 1]) >> 2;
}
void wraps(uint8_t n, uint32_t y[1])
{
    uint32_t s = 0, count = 0;
    for (uint8_t i = 0; i <= n; i++) {
        s += i * i;
        if (++count == 700) break;
    }
    uint8_t k = 0;
    do { s += k; k += 3; count++; } while (k <= n && count < 1500);
    y[0] = s ^ count << 20;
}
void rows(int16_t w, int16_t h, const int16_t x[(w + 1) * h + (h == 0)], int16_t y[h])
{
    for (int16_t r = 0; r <= h - 1; r++) {
        int32_t s = 0;
        for (int16_t c = 0; c <= w; c++) s += x[r * (w + 1) + c];
        y[r] = s >> 4;
    }
}
void thirds(uint16_t n, uint16_t y[n / 3])
{
    uint16_t o = 0;
    for (uint16_t i = 0; i + 2 < n; i += 3) y[o++] = i ^ 0x55;
}
void long_bound(int64_t m, uint8_t y[m])
{
    for (uint8_t i = 0; i < m; i++) y[i] = i + 1;
}
