// run: bytes(n=0, x=uint8[1])
// run: bytes(n=1, x=uint8[1])
// run: bytes(n=1000, x=uint8[1000])
// run: products(n=333, x=int16[333], y=int16[333])
// run: checksum(n=500, x=uint8[500], a=65000, b=3)
// run: running(n=77, x=int8[77], y=int8[77]=0)
// run: filter(n=64, x=int16[190], h=int16[64]%4000, y=int16[128]=0)
// run: filter(n=1, x=int16[64], h=int16[64]%4000, y=int16[2]=0)
// run: largest(n=200, x=int16[200])
// run: mixed(n=90, x=int16[90], y=int16[90]=0)
// run: rows(n=9, m=13, x=uint8[117], y=uint8[9]=0)
// Sums in 8 and 16 bits that wrap: of elements and products, in structures, with others that read them whole.
#include <stdint.h>
typedef struct { int16_t re, im; } cint16;
int bytes(int n, const uint8_t x[n > 0 ? n : 1])
{
    uint8_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
int products(int n, const int16_t x[n], const int16_t y[n])
{
    int16_t sum = 7;
    for (int i = 0; i < n; i++)
        sum -= x[i] * y[i] >> 4;
    return sum;
}
int checksum(int n, const uint8_t x[n], uint16_t a, uint16_t b)
{
    for (int i = 0; i < n; i++) {
        a += x[i];
        b ^= a << 3;
        b += a;
    }
    return b << 16 | a;
}
void running(int n, const int8_t x[n], int8_t y[n])
{
    int8_t sum = 100;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        y[i] = sum / 2;
    }
}
void filter(int n, const cint16 x[n + 31], const cint16 h[32], cint16 y[n])
{
    for (int i = 0; i < n; i++) {
        cint16 sum = { 0, 0 };
        for (int t = 0; t < 32; t++) {
            cint16 p = x[i + t], q = h[t];
            sum.re += (p.re * q.re - p.im * q.im) >> 15;
            sum.im += (p.re * q.im + p.im * q.re) >> 15;
        }
        y[i] = sum;
    }
}
int largest(int n, const int16_t x[n])
{
    int16_t sum = 0, most = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        if (sum > most)
            most = sum;
    }
    return most;
}
void mixed(int n, const int16_t x[n], int16_t y[n])
{
    int16_t up = 0;
    uint16_t down = 9;
    for (int i = 0; i < n; i++) {
        int wide = up + x[i];
        up = wide;
        down = (down - wide) & 0xfff0;
        y[i] = (wide > 1000) + (down >> 8);
    }
}
void rows(int n, int m, const uint8_t x[n * m], uint8_t y[n])
{
    uint8_t before = 0;
    for (int i = 0; i < n; i++) {
        uint8_t sum = before;
        for (int k = 0; k < m; k++)
            sum += x[i * m + k];
        y[i] = sum;
        before = sum ^ 0x55;
    }
}
