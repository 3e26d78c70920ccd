// run: words(n=5, bytes=uint8[20], w=uint32[5]=0)
// run: words(n=0, bytes=uint8[0], w=uint32[0]=0)
// run: halves(n=3, h=int16[12], d=int64[3]=0, back=uint8[24]=0)
// run: mixed(n=7, bytes=uint8[32])
#include <stdint.h>
#include <string.h>
typedef struct { uint16_t lo, hi; } pair;
void words(int n, const uint8_t bytes[4 * n], uint32_t w[n])
{
    memcpy(w, bytes, sizeof *w * n);
    for (int i = 0; i < n; i++) {
        uint32_t v;
        memcpy(&v, &bytes[4 * i], sizeof v);
        w[i] = w[i] * 2654435761u ^ v;
    }
}
void halves(int n, const int16_t h[4 * n], int64_t d[n], uint8_t back[8 * n])
{
    memmove(d, h, (size_t)n * 8);
    memcpy(back, d, 8 * n);
    for (int i = 0; i < n; i++) {
        int32_t part[2];
        memcpy(part, d + i, 8);
        d[i] = (int64_t)part[0] * part[1];
    }
}
int64_t mixed(int n, uint8_t bytes[32])
{
    pair p[2];
    uint64_t sum = 0;
    memcpy(p, bytes + n, sizeof p);
    p[1].lo += p[0].hi;
    memcpy(bytes + 1, p, sizeof p);
    for (int i = 0; i + 8 <= 32; i += 3) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        sum = sum * 31 + word;
        word = ~word;
        memcpy(bytes + i, &word, 8);
    }
    return sum;
}
