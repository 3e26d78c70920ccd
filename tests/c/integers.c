// run: integers(a=5, b=-3, c=200, d=77, out=int64[32]=0)
// run: integers(a=-2147483648, b=-1, c=0, d=9223372036854775807, out=int64[32]=0)
// run: integers(a=2147483647, b=1, c=255, d=-9223372036854775808, out=int64[32]=0)
#include <stdint.h>
int integers(int a, short b, unsigned char c, long d, int64_t out[32])
{
    unsigned u = a;
    unsigned long v = d;
    signed char sc = a;
    int k = 0;
    out[k++] = a + b;
    out[k++] = a - b;
    out[k++] = a * b;
    out[k++] = a * (long)b;
    out[k++] = c ? a / c : -1;
    out[k++] = c ? a % c : -1;
    out[k++] = u / 7;
    out[k++] = u % 7u;
    out[k++] = v / 10;
    out[k++] = v % 10;
    out[k++] = d / 3;
    out[k++] = d % 3;
    out[k++] = a >> 3;
    out[k++] = u >> 3;
    out[k++] = d >> 33;
    out[k++] = v >> 33;
    out[k++] = a << 5;
    out[k++] = d << 5;
    out[k++] = sc;
    out[k++] = (unsigned char)a;
    out[k++] = (short)d;
    out[k++] = (uint16_t)d;
    out[k++] = -u;
    out[k++] = ~a ^ b | c & d;
    out[k++] = a < u;
    out[k++] = b < u;
    out[k++] = c < b;
    out[k++] = !a + !!a;
    out[k++] = (_Bool)d + (_Bool)0;
    out[k++] = sizeof(long) + sizeof a + sizeof(int16_t[3]);
    out[k++] = 'a' + '\n' + '\x41' + '\101' + 0x10 + 010 + 0b11;
    out[k++] = 4294967295 + 2147483648u + 1ull;
    return k;
}
