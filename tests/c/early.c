// run: segments(n=40, x=int16[40], y=uint8[40]=0)
// run: segments(n=0, x=int16[0], y=uint8[0]=0)
// run: near(n=30, x=uint8[38], y=uint8[30]=0)
// run: near(n=1, x=uint8[9], y=uint8[1]=0)
// run: companded(n=40, x=int16[40], y=uint8[40]=0)
// run: ones(n=50, x=uint16[50])
// run: products(n=40, a=uint8[40], b=uint8[40], y=uint8[40]=0)
// run: lowest(n=40, x=uint32[40]%255, y=uint8[40]=0)
// run: words(n=40, x=uint8[44]%5)
// run: last(n=30, k=5, x=int16[35]%9, y=int16[30]=0)
#include <stdint.h>

static const uint16_t ends[8] = { 0xff, 0x1ff, 0x3ff, 0x7ff, 0xfff, 0x1fff, 0x3fff, 0x7fff };

static int segment(int v)
{
    for (int i = 0; i < 8; i++)
        if (v <= ends[i])
            return i;
    return 8;
}

void segments(int n, const int16_t x[n], uint8_t y[n])
{
    for (int i = 0; i < n; i++) {
        int v = x[i] < 0 ? -x[i] - 1 : x[i];
        int s = segment(v);
        y[i] = s >= 8 ? 0x7f : (s << 4) | ((v >> (s < 2 ? 4 : s + 3)) & 15);
    }
}

void near(int n, const uint8_t x[n + 8], uint8_t y[n])
{
    for (int i = 0; i < n; i++) {
        uint8_t hit = 0;
        for (int k = 0; k < 8 && !hit; k++)
            if (x[i + k] > 240)
                hit = 1;
        y[i] = hit;
    }
}

void companded(int n, const int16_t x[n], uint8_t y[n])
{
    for (int i = 0; i < n; i++) {
        int v = x[i], s = 0;
        if (v < 0) {
            v = -v;
            s = 0x80;
        }
        if (v > 32635)
            v = 32635;
        v += 132;
        int e = 7;
        for (int m = 0x4000; !(v & m) && e > 0; e--, m >>= 1)
            ;
        y[i] = ~(s | (e << 4) | ((v >> (e + 3)) & 15));
    }
}

int ones(int n, const uint16_t x[n])
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        uint16_t v = x[i];
        while (v) {
            s += v & 1;
            v >>= 1;
        }
        for (v = x[i]; v; v &= v - 1)
            s += 100;
    }
    return s;
}

static uint8_t product(uint8_t a, uint8_t b)
{
    uint8_t p = 0;
    while (b) {
        if (b & 1)
            p ^= a;
        a = (a << 1) ^ (a & 0x80 ? 0x1d : 0);
        b >>= 1;
    }
    return p;
}

void products(int n, const uint8_t a[n], const uint8_t b[n], uint8_t y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = product(a[i], b[i]);
}

void lowest(int n, const uint32_t x[n], uint8_t y[n])
{
    for (int i = 0; i < n; i++) {
        uint32_t v = x[i] & 255, k = 0;
        do {
            if (v % 2)
                break;
            k++;
            v /= 2;
        } while (v != 0);
        y[i] = k * 16 + (v & 15);
    }
}

int words(int n, const uint8_t x[n + 4])
{
    static const uint8_t word[4] = { 1, 2, 0, 3 };
    int count = 0, best = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < 4 && x[i + k] == word[k])
            k++;
        if (k == 4)
            count++;
        best = k > best ? k : best;
    }
    return count * 10 + best;
}

void last(int n, int k, const int16_t x[n + 5], int16_t y[n])
{
    for (int i = 0; i < n; i++) {
        int at = -1, sum = 0;
        for (int j = 0; j < 5; j++) {
            if (j == k)
                break;
            if (x[i + j] < 0)
                continue;
            if (x[i + j] > 7)
                break;
            at = j;
            sum += x[i + j];
        }
        y[i] = (int16_t)(10 * sum + at);
    }
}
