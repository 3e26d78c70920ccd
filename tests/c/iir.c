// run: iir(n=30, x=int16[30], y=int16[30]=0)
#include <stdint.h>
typedef struct { int32_t b[3], a[2]; int32_t z[2]; } biquad;
static int16_t step(biquad *q, int16_t x)
{
    int64_t acc = (int64_t)q->b[0] * x + q->z[0];
    int32_t y = acc >> 14;
    q->z[0] = (int32_t)((int64_t)q->b[1] * x - (int64_t)q->a[0] * y + q->z[1]);
    q->z[1] = (int32_t)((int64_t)q->b[2] * x - (int64_t)q->a[1] * y);
    return y > 32767 ? 32767 : y < -32768 ? -32768 : y;
}
void iir(int n, const int16_t x[n], int16_t y[n])
{
    biquad chain[2] = { { { 4000, 8000, 4000 }, { -12000, 5000 } }, { .b = { 16384 }, .a = { [1] = 100 } } };
    for (int i = 0; i < n; i++) {
        int16_t v = x[i];
        for (biquad *q = chain; q < chain + 2; q++) v = step(q, v);
        y[i] = v;
    }
}
