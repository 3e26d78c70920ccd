// run: box(w=7, h=5, in=uint8[5,7], out=uint16[5,7]=0)
// run: box(w=1, h=1, in=uint8[1,1], out=uint16[1,1]=0)
// run: odd(n=61, a=int32[61], b=int32[61]=0)
// run: bits(n=40, a=uint32[42], b=uint32[40]=0)
#include <stdint.h>
/* What is added, taken or joined in some cases only. */
void box(int w, int h, const uint8_t in[h][w], uint16_t out[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int s = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++) {
                    int yy = y + dy, xx = x + dx;
                    if (yy < 0 || yy >= h || xx < 0 || xx >= w)
                        continue;
                    s += in[yy][xx];
                }
            out[y][x] = s;
        }
}
void odd(int n, const int32_t a[n], int32_t b[n])
{
    int32_t sum = 0;
    uint32_t rest = 7;
    for (int i = 0; i < n; i++) {
        if (a[i] & 1)
            sum += a[i];
        if (a[i] & 2)
            sum -= i;
        if (a[i] > 0)
            rest = rest;
        else
            rest = a[i] - rest;
        sum = a[i] & 4 ? sum : sum - (int32_t)rest;
        if (a[i] & 8) {
            sum += 3;
            if (a[i] & 16)
                sum += a[i] >> 3;
        }
        b[i] = sum;
    }
}
void bits(int n, const uint32_t a[n + 2], uint32_t b[n])
{
    uint32_t seen = 0, parity = 1, both = ~0u;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            if (a[i + k] & 1)
                seen |= a[i + k];
            if (a[i + k] & 2)
                parity ^= a[i + k] >> k;
            if (a[i + k] & 4)
                both &= a[i + k] | 0xffff << k;
        }
        b[i] = seen + parity * 3 + both;
    }
}
