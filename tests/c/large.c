// run: copy16(n=37, x=int16[37], y=int16[37]=0)
// run: sum(n=40, x=int32[40])
// run: fir8(n=30, x=int16[37], h=int16[8], y=int16[30]=0)
// run: prefix(n=40, y=int32[40])
// run: blur(h=7, w=9, a=uint8[7,9], o=uint8[7,9]=0)
// run: lut(h=5, w=9, t=uint8[256], a=uint8[5,9], o=uint8[5,9]=0)
// run: border(h=6, w=8, a=uint8[6,8], o=uint8[6,8]=0)
// run: half(h=4, w=5, a=uint8[8,10], o=uint8[4,5]=0)
// run: sep(h=6, w=8, a=uint8[6,8], t=uint16[6,8]=0, o=uint8[6,8]=0)
// run: hist(h=6, w=8, a=uint8[6,8], c=uint32[256]=0)
// run: matv(h=6, w=8, a=int16[6,8], x=int16[8], y=int32[6]=0)
// run: mat(n=6, a=int16[6,6], b=int16[6,6], c=int32[6,6]=0)
// run: conv(h=6, w=7, c=2, in=int8[2,6,7], k=int8[4,2,3,3], o=int16[4,4,5]=0)
// run: blocks(n=3, x=int16[24], y=int16[24]=0)
// run: trans(h=5, w=7, a=int16[5,7], o=int16[7,5]=0)
/* The kernels of docs/performance-sdpnm.md, "What is larger than a shared memory", which has them at larger sizes. */
#include <stdint.h>

typedef struct { int16_t re, im; } cint16;

void copy16(int n, const int16_t x[n], int16_t y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] * 3 + 1;
}

int sum(int n, const int32_t x[n])
{
    int s = 5, m = 0;
    for (int i = 0; i < n; i++) {
        s += x[i];
        if (x[i] > m) m = x[i];
    }
    return s ^ m;
}

void fir8(int n, const int16_t x[n + 7], const int16_t h[8], int16_t y[n])
{
    for (int i = 0; i < n; i++) {
        int32_t s = 0;
        for (int t = 0; t < 8; t++)
            s += x[i + t] * h[t];
        y[i] = s >> 15;
    }
}

void prefix(int n, int32_t y[n])
{
    for (int i = 1; i < n; i++)
        y[i] += y[i - 1];
}

void cmul(int n, const cint16 a[n], const cint16 b[n], cint16 c[n])
{
    for (int i = 0; i < n; i++) {
        c[i].re = (a[i].re * b[i].re - a[i].im * b[i].im) >> 15;
        c[i].im = (a[i].re * b[i].im + a[i].im * b[i].re) >> 15;
    }
}

void blur(int h, int w, const uint8_t a[h][w], uint8_t o[h][w])
{
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            int s = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    s += a[y + j][x + i];
            o[y][x] = s / 9;
        }
}

void lut(int h, int w, const uint8_t t[256], const uint8_t a[h][w], uint8_t o[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            o[y][x] = t[a[y][x]];
}

void border(int h, int w, const uint8_t a[h][w], uint8_t o[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int s = a[y][x];
            if (y > 0) s += a[y-1][x];
            if (x > 0) s += a[y][x-1];
            o[y][x] = s >> 1;
        }
}

void half(int h, int w, const uint8_t a[2 * h][2 * w], uint8_t o[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            o[y][x] = (a[2*y][2*x] + a[2*y][2*x+1] + a[2*y+1][2*x] + a[2*y+1][2*x+1]) >> 2;
}

void sep(int h, int w, const uint8_t a[h][w], uint16_t t[h][w], uint8_t o[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 1; x < w - 1; x++)
            t[y][x] = a[y][x-1] + 2 * a[y][x] + a[y][x+1];
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            o[y][x] = (t[y-1][x] + 2 * t[y][x] + t[y+1][x]) >> 4;
}

void hist(int h, int w, const uint8_t a[h][w], uint32_t c[256])
{
    for (int i = 0; i < 256; i++)
        c[i] = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            c[a[y][x]]++;
}

void matv(int h, int w, const int16_t a[h][w], const int16_t x[w], int32_t y[h])
{
    for (int i = 0; i < h; i++) {
        int32_t s = 0;
        for (int k = 0; k < w; k++)
            s += a[i][k] * x[k];
        y[i] = s;
    }
}

void mat(int n, const int16_t a[n][n], const int16_t b[n][n], int32_t c[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int32_t s = 0;
            for (int k = 0; k < n; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}

void conv(int h, int w, int c, const int8_t in[c][h][w], const int8_t k[4][c][3][3], int16_t o[4][h - 2][w - 2])
{
    for (int f = 0; f < 4; f++)
        for (int y = 0; y < h - 2; y++)
            for (int x = 0; x < w - 2; x++) {
                int s = 0;
                for (int q = 0; q < c; q++)
                    for (int j = 0; j < 3; j++)
                        for (int i = 0; i < 3; i++)
                            s += in[q][y + j][x + i] * k[f][q][j][i];
                o[f][y][x] = s >> 5;
            }
}

void blocks(int n, const int16_t x[n * 8], int16_t y[n * 8])
{
    for (int b = 0; b < n; b++) {
        int16_t t[8];
        for (int i = 0; i < 8; i++)
            t[i] = x[b * 8 + i];
        for (int i = 0; i < 8; i++) {
            int s = 0;
            for (int j = 0; j < 8; j++)
                s += t[j] * ((i * j) % 5 - 2);
            y[b * 8 + i] = s;
        }
    }
}

void trans(int h, int w, const int16_t a[h][w], int16_t o[w][h])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            o[x][y] = a[y][x];
}
