// run: constants(q=int32[120]=0, r=int32[120]=0)
// run: without_signs(q=uint32[72]=0, r=uint32[72]=0)
// run: by(d=3, n=24, q=int32[24]=0, r=int32[24]=0, o=uint32[48]=0, h=int32[48]=0)
// run: by(d=-1, n=23, q=int32[23]=0, r=int32[23]=0, o=uint32[46]=0, h=int32[46]=0)
// run: by(d=-2147483648, n=24, q=int32[24]=0, r=int32[24]=0, o=uint32[48]=0, h=int32[48]=0)
// run: by(d=2147483647, n=24, q=int32[24]=0, r=int32[24]=0, o=uint32[48]=0, h=int32[48]=0)
// run: by(d=65535, n=24, q=int32[24]=0, r=int32[24]=0, o=uint32[48]=0, h=int32[48]=0)
// run: by(d=65537, n=24, q=int32[24]=0, r=int32[24]=0, o=uint32[48]=0, h=int32[48]=0)
// run: by(d=1, n=24, q=int32[24]=0, r=int32[24]=0, o=uint32[48]=0, h=int32[48]=0)
// run: by(d=0, n=0, q=int32[0]=0, r=int32[0]=0, o=uint32[0]=0, h=int32[0]=0)
// run: means(rows=5, w=30, k=3, a=int16[150], m=int32[5]=0, t=int32[150]=0)
// run: means(rows=5, w=30, k=0, a=int16[150], m=int32[5]=0, t=int32[150]=0)
// run: long_constants(q=int64[240]=0, r=int64[240]=0)
#include <stdint.h>
static const int32_t edge[24] = {0, 1, -1, 2, -2, 3, -3, 65534, 65535, 65536, 65537, -65535, -65536, -65537, 32767, -32768, INT32_MAX, INT32_MAX - 1, INT32_MIN + 1, 1000002, 1000003, -1000002, -1000003, INT32_MIN};
#define BOTH(d) q[k] = edge[i] / (d), r[k++] = edge[i] % (d);
#define BOTH_U(d) q[k] = (uint32_t)edge[i] / (d), r[k++] = (uint32_t)edge[i] % (d);
void constants(int32_t q[24 * 5], int32_t r[24 * 5])
{
    for (int i = 0; i < 24; i++) {
        int k = 5 * i;
        BOTH(3) BOTH(-7) BOTH(1000003) BOTH(INT32_MAX) BOTH(-16)
    }
}
static const int64_t far[20] = {0, 1, -1, 9, -10, 998244353, -998244353, 4294967295, 4294967296, -4294967296, 2147483647, -2147483648ll, 1ll << 53, -(1ll << 53), 6148914691236517205ll, -6148914691236517206ll, INT64_MAX, INT64_MAX - 1, INT64_MIN + 1, INT64_MIN};
#define LONG(d) q[k] = far[i] / (d), r[k++] = far[i] % (d);
#define LONG_U(d) q[k] = (int64_t)((uint64_t)far[i] / (d)), r[k++] = (int64_t)((uint64_t)far[i] % (d));
void long_constants(int64_t q[20 * 12], int64_t r[20 * 12])
{
    for (int i = 0; i < 20; i++) {
        int k = 12 * i;
        LONG(2) LONG(-8) LONG(10) LONG(-7) LONG(1ll << 31) LONG(998244353) LONG(INT64_MIN) LONG(INT64_MAX)
        LONG_U(10u) LONG_U(7u) LONG_U(0x8000000000000001u) LONG_U(UINT64_MAX)
    }
}
void without_signs(uint32_t q[24 * 3], uint32_t r[24 * 3])
{
    for (int i = 0; i < 24; i++) {
        int k = 3 * i;
        BOTH_U(7) BOTH_U(UINT32_MAX) BOTH_U(0x80000001u)
    }
}
// Words, words without signs, halves, and what has 16 bits and none.
void by(int d, int n, int32_t q[n], int32_t r[n], uint32_t o[2 * n], int32_t h[2 * n])
{
    for (int i = 0; i < n; i++) {
        q[i] = edge[i] / d;
        r[i] = edge[i] % d;
        o[2 * i] = (uint32_t)edge[i] / (uint32_t)d;
        o[2 * i + 1] = (uint32_t)edge[i] % (uint32_t)d;
        h[2 * i] = (int16_t)edge[i] / d;
        h[2 * i + 1] = (uint16_t)edge[i] % d;
    }
}
// Divisors of a nest, of which one is known where rows begin, and one that nobody asks for where it is 0.
void means(int rows, int w, int k, const int16_t a[rows * w], int32_t m[rows], int32_t t[rows * w])
{
    for (int y = 0; y < rows; y++) {
        int32_t s = 0;
        int other = a[y * w] | 1;
        for (int x = 0; x < w; x++) {
            s += a[y * w + x];
            t[y * w + x] = (k ? s / k : s) + a[y * w + x] / other;
        }
        m[y] = s / w;
    }
}
