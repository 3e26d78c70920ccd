// run: modpow(n=6, a=uint64[6], out=uint64[6]=0)
#include <stdint.h>
typedef struct { uint64_t m[2][2]; } mat;
static const uint64_t P = 1000000007;
static uint64_t power(uint64_t b, uint64_t e) { uint64_t r = 1; for (b %= P; e; e >>= 1) { if (e & 1) r = r * b % P; b = b * b % P; } return r; }
static mat times(mat a, mat b)
{
    mat r = { 0 };
    for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) for (int k = 0; k < 2; k++) r.m[i][j] = (r.m[i][j] + a.m[i][k] * b.m[k][j]) % P;
    return r;
}
uint64_t modpow(int n, const uint64_t a[n], uint64_t out[n])
{
    mat f = { { { 1, 1 }, { 1, 0 } } }, r = { .m = { { 1 }, { [1] = 1 } } };
    for (int i = 0; i < n; i++) {
        out[i] = power(a[i], a[i] >> 40);
        r = times(r, f);
        f = times(f, f);
    }
    return r.m[0][1];
}
