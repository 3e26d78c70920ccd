// run: all(n=96, a=int64[96], b=int64[96], q=int64[96]=0, r=int64[96]=0, uq=uint64[96]=0, ur=uint64[96]=0)
// run: all(n=96, a=int64[96], b=int64[96]%4294967296, q=int64[96]=0, r=int64[96]=0, uq=uint64[96]=0, ur=uint64[96]=0)
// run: all(n=96, a=int64[96], b=int64[96]%65536, q=int64[96]=0, r=int64[96]=0, uq=uint64[96]=0, ur=uint64[96]=0)
// run: all(n=96, a=int64[96], b=int64[96]%17179869184, q=int64[96]=0, r=int64[96]=0, uq=uint64[96]=0, ur=uint64[96]=0)
// run: all(n=96, a=int64[96]%1099511627776, b=int64[96]%40, q=int64[96]=0, r=int64[96]=0, uq=uint64[96]=0, ur=uint64[96]=0)
// run: edges(q=int64[484]=0, r=int64[484]=0, uq=uint64[484]=0, ur=uint64[484]=0)
// run: ratio(n=40, a=int32[40], b=int32[40], y=int32[40]=0)
// run: ratio(n=0, a=int32[0], b=int32[0], y=int32[0]=0)
#include <stdint.h>
static int64_t one(int64_t b) { return b ? b : 1; }
void all(int n, const int64_t a[n], const int64_t b[n], int64_t q[n], int64_t r[n], uint64_t uq[n], uint64_t ur[n])
{
    for (int i = 0; i < n; i++) {
        int64_t d = one(b[i]);
        q[i] = a[i] / d;
        r[i] = a[i] % d;
        uq[i] = (uint64_t)a[i] / (uint64_t)d;
        ur[i] = (uint64_t)a[i] % (uint64_t)d;
    }
}
// Numbers at which estimates of digits are the furthest off, and around powers of two.
static const int64_t numbers[22] = { 1, 2, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
    0x100000000, 0x1000080000000, 0x7fffffffffff, 0x800000000000, 0x8000ffffffff, 0xffffffffffff, 0x7fffffff00000000,
    0x7fffffffffffffff, INT64_MIN + 1, -0x100000000, -0xffff, -2, -1 };
void edges(int64_t q[484], int64_t r[484], uint64_t uq[484], uint64_t ur[484])
{
    for (int i = 0; i < 22; i++)
        for (int k = 0; k < 22; k++) {
            int64_t a = numbers[i], b = numbers[k];
            q[i * 22 + k] = a / b;
            r[i * 22 + k] = a % b;
            uq[i * 22 + k] = (uint64_t)a / (uint64_t)b;
            ur[i * 22 + k] = (uint64_t)a % (uint64_t)b;
        }
}
void ratio(int n, const int32_t a[n], const int32_t b[n], int32_t y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = b[i] ? (int32_t)(((int64_t)a[i] << 16) / b[i]) : 0x7fffffff;
}
