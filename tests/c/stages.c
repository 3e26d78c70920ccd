// run: transform(k=0, re=int16[1]%3000, im=int16[1]%3000)
// run: transform(k=1, re=int16[2]%3000, im=int16[2]%3000)
// run: transform(k=5, re=int16[32]%3000, im=int16[32]%3000)
// run: transform(k=8, re=int16[256]%3000, im=int16[256]%3000)
// run: walsh(n=1, x=int32[1]%1000)
// run: walsh(n=64, x=int32[64]%1000)
// run: down(n=81, x=int32[81]%1000)
// run: left(n=64, x=int32[64]%1000, until=0)
// run: left(n=64, x=int32[64]%1000, until=9000)
// run: sorted(x=int32[64]%1000)
#include <stdint.h>
static const int16_t turns[8] = { 32767, 30273, 23170, 12539, 0, -12539, -23170, -30273 };
/* Stages whose nests only the stage counts: by a shift, by a quotient. */
void transform(int k, int16_t re[1 << k], int16_t im[1 << k])
{
    const int n = 1 << k;
    for (int len = 2; len <= n; len <<= 1)
        for (int i = 0; i < n; i += len)
            for (int j = 0; j < len / 2; j++) {
                int w = turns[j * (n / len) % 8], p = i + j, q = p + len / 2;
                int xr = (re[q] * w) >> 15, xi = (im[q] * w) >> 15;
                re[q] = (int16_t)((re[p] - xr) >> 1), im[q] = (int16_t)((im[p] - xi) >> 1);
                re[p] = (int16_t)((re[p] + xr) >> 1), im[p] = (int16_t)((im[p] + xi) >> 1);
            }
}
void walsh(int n, int x[n])
{
    for (int s = 0; 1 << s < n; s++)
        for (int i = 0; i < n; i += 2 << s)
            for (int j = i; j < i + (1 << s); j++) {
                int a = x[j], b = x[j + (1 << s)];
                x[j] = a + b, x[j + (1 << s)] = a - b;
            }
}
void down(int n, int x[n])
{
    for (int third = n / 3; third >= 1; third /= 3)
        for (int first = 0; first < n; first += 3 * third)
            for (int k = first; k < first + third; k++) {
                int a = x[k], b = x[k + third], c = x[k + 2 * third];
                x[k] = a + b + c, x[k + third] = a - b, x[k + 2 * third] = b - c;
            }
}
/* Left between its stages. */
int left(int n, int x[n], int until)
{
    int stages = 0;
    for (int half = 1; half < n; half *= 2, stages++) {
        if (until && x[0] > until)
            return stages;
        for (int i = 0; i < n; i += 2 * half)
            for (int j = 0; j < half; j++)
                x[i + j] += x[i + j + half] + stages;
    }
    return stages;
}
/* Stages inside of stages. */
void sorted(int x[64])
{
    for (int size = 2; size <= 64; size *= 2)
        for (int apart = size / 2; apart > 0; apart /= 2)
            for (int i = 0; i < 64; i += 2 * apart)
                for (int j = i; j < i + apart; j++) {
                    int up = !(j & size), a = x[j], b = x[j + apart];
                    if ((a > b) == up)
                        x[j] = b, x[j + apart] = a;
                }
}
