// run: shifts(n=12, a=int32[12], s=int32[12]%31, out=int32[12]=0)
#include <stdint.h>
uint32_t shifts(int n, const int32_t a[n], const int32_t s[n], int32_t out[n])
{
    uint32_t h = 0;
    for (int i = 0; i < n; i++) {
        int k = s[i] < 0 ? -s[i] : s[i];
        uint32_t u = a[i];
        out[i] = (a[i] >> k) + (a[i] << (k & 7)) - (int32_t)(u >> k);
        h = h << 5 | h >> 27;
        h ^= u << (31 - k);
        int64_t wide = (int64_t)a[i] << k;
        h += wide >> 32;
        out[i] += (int16_t)a[i] >> 3;
    }
    return h;
}
