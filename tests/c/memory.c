// run: memory(n=12, a=int16[12], b=int16[12], bytes=uint8[16])
#include <string.h>
#include <stdint.h>
struct pair { int32_t x[3]; int32_t y; };
int memory(int n, int16_t a[n], int16_t b[n], uint8_t bytes[16])
{
    int16_t tmp[12];
    memcpy(tmp, a, n * sizeof *a);
    memcpy(a, b, sizeof(int16_t) * 6);
    memmove(b + 2, b, 8 * sizeof b[0]);
    memmove(b, b + 1, 5 * sizeof b[0]);
    memset(tmp + 4, 0x5a, 3 * sizeof tmp[0]);
    memset(bytes + 3, 200, 5);
    struct pair p = { { 1, 2, 3 }, 4 }, q;
    memset(&q, 0, sizeof q);
    q = p;
    q.x[1] = n;
    memcpy(&p, &q, sizeof p);
    for (int i = 0; i < n; i++) a[i] ^= tmp[i];
    int sign = memcmp(a, b, 10) < 0 ? -1 : memcmp(a, b, 10) > 0;
    return sign * 10 + memcmp(tmp, tmp, sizeof tmp) + p.x[1] * 100 + p.x[2] + p.y;
}
