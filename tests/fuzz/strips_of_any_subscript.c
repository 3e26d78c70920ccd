// run: f(n=17, a=int32[14,14]%2000, x=uint64[15])
#include <stdint.h>
static const int32_t t[5] = { 11763, 12201, -12864, -23522, 11272 };
static int32_t mix(int32_t a, int64_t b) { return (a << 3) ^ (int32_t)(b >> 5) ^ a; }
uint32_t f(int n, const int32_t a[14][14], uint64_t x[15])
{
    int64_t l[17] = { 0 };
    l[1] = a[1][1];
    unsigned i4 = 0;
    do {
        if (l[i4]) {
            uint16_t r5 = mix(t[((i4) % (571026151479ll))], x[i4]);
        }
    } while (++i4 < n + 1);
    return 1;
}
