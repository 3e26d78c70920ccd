// run: relax(n=40, steps=7, u=int32[40]%1000)
// run: relax(n=40, steps=8, u=int32[40]%1000)
// run: relax(n=40, steps=0, u=int32[40]%1000)
// run: relax(n=1, steps=3, u=int32[1]%1000)
// run: relax2(h=12, w=14, steps=5, u=int16[12,14]%3000)
// run: relax2(h=3, w=3, steps=1, u=int16[3,3]%3000)
// run: stages(n=50, count=4, x=int16[50], c=int16[8]%9000, y=int16[50]=0)
// run: stages(n=1, count=1, x=int16[1], c=int16[8]%9000, y=int16[1]=0)
// run: stages(n=0, count=2, x=int16[0], c=int16[8]%9000, y=int16[0]=0)
// run: rotating(n=30, steps=7, u=int32[30]%1000, y=int32[30]=0)
// run: rotating(n=30, steps=2, u=int32[30]%1000, y=int32[30]=0)
// run: chosen(n=40, which=0, a=int16[40], b=int16[40], c=int16[40], y=int16[40]=0)
// run: chosen(n=40, which=1, a=int16[40], b=int16[40], c=int16[40], y=int16[40]=0)
// run: chosen(n=40, which=2, a=int16[40], b=int16[40], c=int16[40], y=int16[40]=0)
// run: chosen(n=0, which=2, a=int16[0], b=int16[0], c=int16[0], y=int16[0]=0)
// Pointers that are of one array in one round of a loop and of another one in the next.
#include <stdint.h>
void relax(int n, int steps, int32_t u[n])
{
    int32_t other[128];
    int32_t *cur = u, *nxt = other;
    for (int s = 0; s < steps; s++) {
        nxt[0] = cur[0];
        nxt[n - 1] = cur[n - 1];
        for (int i = 1; i < n - 1; i++)
            nxt[i] = cur[i] + ((cur[i - 1] - 2 * cur[i] + cur[i + 1]) >> 2);
        int32_t *t = cur;
        cur = nxt;
        nxt = t;
    }
    if (cur != u)
        for (int i = 0; i < n; i++) u[i] = cur[i];
}
void relax2(int h, int w, int steps, int16_t u[h][w])
{
    static int16_t buffer[1024];
    const int16_t *from;
    int16_t *a = u[0], *b = buffer;
    for (int i = 0; i < h * w; i++) b[i] = a[i];
    while (steps-- > 0) {
        from = a;
        for (int y = 1; y < h - 1; y++)
            for (int x = 1; x < w - 1; x++) {
                const int16_t *p = from + y * w + x;
                b[y * w + x] = (p[-1] + p[1] + p[-w] + p[w]) >> 2;
            }
        a = b;
        b = b == buffer ? u[0] : buffer;
    }
    if (a == buffer)
        for (int i = 0; i < h * w; i++) u[0][i] = buffer[i];
}
void stages(int n, int count, const int16_t x[n], const int16_t c[8], int16_t y[n])
{
    const int16_t *in = x;
    for (int s = 0; s < count; s++) {
        int16_t one = 0, two = 0;
        for (int i = 0; i < n; i++) {
            int32_t v = (c[2 * s] * in[i] + c[2 * s + 1] * one - 7000 * two) >> 14;
            two = one;
            one = v > 32767 ? 32767 : v < -32768 ? -32768 : v;
            y[i] = one;
        }
        in = y;
    }
}
void rotating(int n, int steps, int32_t u[n], int32_t y[n])
{
    int32_t third[64];
    for (int i = 0; i < n; i++) third[i] = 0;
    int32_t *p = u, *q = y, *r = third;
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++) r[i] = p[i] - (q[i] >> 1) + s;
        int32_t *t = p;
        p = r;
        r = q;
        q = t;
    }
}
void chosen(int n, int which, const int16_t a[n], const int16_t b[n], const int16_t c[n], int16_t y[n])
{
    const int16_t *p = which == 0 ? a : which == 1 ? b : c;
    for (int i = 0; i < n; i++) y[i] = p[i] / 3 + p[n - 1 - i];
}
