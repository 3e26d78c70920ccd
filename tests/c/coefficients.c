// run: depthwise(n=30, c=3, x=int8[306], k=int8[27], y=int8[90]=0, multiplier=20000, in_offset=5, out_offset=-3, low=-100, high=90)
// run: depthwise(n=0, c=3, x=int8[36], k=int8[27], y=int8[0]=0, multiplier=20000, in_offset=5, out_offset=-3, low=-100, high=90)
// run: depthwise(n=1, c=1, x=int8[15], k=int8[9], y=int8[1]=0, multiplier=9, in_offset=-128, out_offset=1, low=-128, high=127)
// run: cascade(n=50, x=int16[50], y=int16[50]=0, c=int16[10]%8000, s=int16[8])
// run: cascade(n=3, x=int16[3], y=int16[3]=0, c=int16[10]%8000, s=int16[8])
// run: cascade(n=0, x=int16[0], y=int16[0]=0, c=int16[10]%8000, s=int16[8])
// run: stages(n=40, count=3, x=int16[40], y=int16[40]=0, c=int16[15]%8000, s=int16[12])
// run: colours(n=60, in=uint8[180], out=uint8[180]=0, a=300, b=-40, c=-4, d=-20, e=290, f=-14, g=3, h=-60, i=313, p=5, q=-6, r=7, low=16, high=235, half=128)
// run: calibrated(n=40, gain=7, x=int16[40]%2000, y=int16[40]%2000, z=int16[40]%2000, m=int16[12]%300)
// run: turned(n=50, m=int32[12]%4000, x=int16[50], y=int16[50], z=int16[50], u=int32[50]=0, v=int32[50]=0, w=int32[50]=0)
// run: turned(n=2, m=int32[12]%4000, x=int16[2], y=int16[2], z=int16[2], u=int32[2]=0, v=int32[2]=0, w=int32[2]=0)
// run: pieces(n=60, x=int16[60], y=int32[60]=0, b=int32[3]%9000, c=int32[12]%300, low=-100000, high=100000, shift=6)
// run: filters(n=60, x=int16[60], y=int16[60]=0, s=int32[4]%100, g=int32[12]%9000)
// run: filters(n=4, x=int16[4], y=int16[4]=0, s=int32[4]%100, g=int32[12]%9000)
// run: scatter(n=64, a=int32[64]=0, x=int16[64], y=int16[64]=0, step=5, gain=3)
// run: scatter(n=1, a=int32[1]=0, x=int16[1], y=int16[1]=0, step=1, gain=3)
// Loops that work with more values from before than an array has global registers: convolutions of channels,
// filters with their states, matrices with offsets and clamps, pieces of polynomials. And places from a table.
#include <stdint.h>
static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static int16_t saturated(int32_t v) { return clamp(v, -32768, 32767); }
void depthwise(int n, int c, const int8_t x[3 * (n + 4) * c], const int8_t k[9 * c], int8_t y[n * c],
               int multiplier, int in_offset, int out_offset, int low, int high)
{
    int row = (n + 4) * c;
    for (int channel = 0; channel < c; channel++)
        for (int i = 0; i < n; i++) {
            int32_t sum = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    sum += (x[a * row + (i + b) * c + channel] + in_offset) * k[(a * 3 + b) * c + channel];
            y[i * c + channel] = clamp(((sum * multiplier) >> 15) + out_offset, low, high);
        }
}
void cascade(int n, const int16_t x[n], int16_t y[n], const int16_t c[10], int16_t s[8])
{
    int16_t b0 = c[0], b1 = c[1], b2 = c[2], a1 = c[3], a2 = c[4];
    int16_t d0 = c[5], d1 = c[6], d2 = c[7], c1 = c[8], c2 = c[9];
    int16_t x1 = s[0], x2 = s[1], y1 = s[2], y2 = s[3], u1 = s[4], u2 = s[5], v1 = s[6], v2 = s[7];
    for (int i = 0; i < n; i++) {
        int16_t in = x[i];
        int16_t mid = saturated((b0 * in + b1 * x1 + b2 * x2 + a1 * y1 + a2 * y2) >> 14);
        x2 = x1; x1 = in; y2 = y1; y1 = mid;
        int16_t out = saturated((d0 * mid + d1 * u1 + d2 * u2 + c1 * v1 + c2 * v2) >> 14);
        u2 = u1; u1 = mid; v2 = v1; v1 = out;
        y[i] = out;
    }
    s[0] = x1; s[1] = x2; s[2] = y1; s[3] = y2; s[4] = u1; s[5] = u2; s[6] = v1; s[7] = v2;
}
void stages(int n, int count, const int16_t x[n], int16_t y[n], const int16_t c[5 * count], int16_t s[4 * count])
{
    for (int i = 0; i < n; i++) y[i] = x[i];
    for (int k = 0; k < count; k++, c += 5, s += 4) {
        int16_t b0 = c[0], b1 = c[1], b2 = c[2], a1 = c[3], a2 = c[4];
        int16_t x1 = s[0], x2 = s[1], y1 = s[2], y2 = s[3];
        for (int i = 0; i < n; i++) {
            int16_t in = y[i];
            int16_t out = saturated((b0 * in + b1 * x1 + b2 * x2 + a1 * y1 + a2 * y2) >> 14);
            x2 = x1; x1 = in; y2 = y1; y1 = out;
            y[i] = out;
        }
        s[0] = x1; s[1] = x2; s[2] = y1; s[3] = y2;
    }
}
void colours(int n, const uint8_t in[3 * n], uint8_t out[3 * n], int a, int b, int c, int d, int e, int f, int g,
             int h, int i, int p, int q, int r, int low, int high, int half)
{
    for (int k = 0; k < n; k++) {
        int x = in[3 * k], y = in[3 * k + 1], z = in[3 * k + 2];
        out[3 * k] = clamp(((a * x + b * y + c * z + half) >> 8) + p, low, high);
        out[3 * k + 1] = clamp(((d * x + e * y + f * z + half) >> 8) + q, low, high);
        out[3 * k + 2] = clamp(((g * x + h * y + i * z + half) >> 8) + r, low, high);
    }
}
void calibrated(int n, int gain, int16_t x[n], int16_t y[n], int16_t z[n], int16_t m[12])
{
    for (int k = 0; k < 12; k++) m[k] += gain;
    for (int i = 0; i < n; i++) {
        int a = x[i], b = y[i], c = z[i];
        x[i] = (m[0] * a + m[1] * b + m[2] * c + (m[3] << 4)) >> 8;
        y[i] = (m[4] * a + m[5] * b + m[6] * c + (m[7] << 4)) >> 8;
        z[i] = (m[8] * a + m[9] * b + m[10] * c + (m[11] << 4)) >> 8;
    }
}
void turned(int n, const int32_t m[12], const int16_t x[n], const int16_t y[n], const int16_t z[n], int32_t u[n],
            int32_t v[n], int32_t w[n])
{
    int32_t t[12];
    for (int k = 0; k < 12; k++) t[k] = m[k] * 3 - 7;
    for (int i = 0; i < n; i++) {
        u[i] = ((t[0] * x[i] + t[1] * y[i] + t[2] * z[i]) >> 12) + t[3];
        v[i] = ((t[4] * x[i] + t[5] * y[i] + t[6] * z[i]) >> 12) + t[7];
        w[i] = ((t[8] * x[i] + t[9] * y[i] + t[10] * z[i]) >> 12) + t[11];
    }
}
void pieces(int n, const int16_t x[n], int32_t y[n], int32_t b[3], int32_t c[12], int low, int high, int shift)
{
    b[1] += 1;
    c[0] += 1;
    int32_t b0 = b[0], b1 = b[1], b2 = b[2];
    for (int i = 0; i < n; i++) {
        int v = x[i], p, q, r;
        if (v < b0) p = c[0], q = c[1], r = c[2];
        else if (v < b1) p = c[3], q = c[4], r = c[5];
        else if (v < b2) p = c[6], q = c[7], r = c[8];
        else p = c[9], q = c[10], r = c[11];
        y[i] = clamp(((((p * v) >> shift) + q) * (v >> 4) >> shift) + r, low, high);
    }
}
static int32_t part(int32_t a, int32_t b) { return ((int16_t)a * (int16_t)b) >> 15; }
void filters(int n, const int16_t x[n], int16_t y[n], int32_t s[4], int32_t g[12])
{
    for (int k = 0; k < 12; k++) g[k] = g[k] * 2 + 1;
    int32_t f1 = g[0], q1 = g[1], f2 = g[2], q2 = g[3], l1 = g[4], b1 = g[5], h1 = g[6], l2 = g[7], b2 = g[8];
    int32_t h2 = g[9], in = g[10], out = g[11], a = s[0], b = s[1], c = s[2], d = s[3];
    for (int i = 0; i < n; i++) {
        int32_t high = part(x[i], in) - a - part(b, q1);
        b += part(high, f1);
        a += part(b, f1);
        int32_t mid = (a * l1 + b * b1 + high * h1) >> 7;
        int32_t higher = mid - c - part(d, q2);
        d += part(higher, f2);
        c += part(d, f2);
        y[i] = (int16_t)(((c * l2 + d * b2 + higher * h2) >> 7) * out >> 9);
    }
    s[0] = a; s[1] = b; s[2] = c; s[3] = d;
}
void scatter(int n, int32_t a[n], const int16_t x[n], int16_t y[n], int step, int gain)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        a[i] = at;
        at = at + step >= n ? at + step - n : at + step;
    }
    for (int i = 0; i < n; i++)
        if (x[i] > -20000) y[a[i]] = (x[i] * gain) >> 2;
}
