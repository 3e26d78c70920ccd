// run: conversions(n=12, a=int64[12], b=int32[12], out=int64[12]=0)
#include <stdint.h>
int64_t conversions(int n, const int64_t a[n], const int32_t b[n], int64_t out[n])
{
    int64_t all = 0;
    for (int i = 0; i < n; i++) {
        int8_t c = a[i]; uint8_t uc = a[i]; int16_t s = a[i]; uint16_t us = b[i]; uint32_t u = b[i];
        out[i] = c + uc - s * us;
        out[i] += (c < uc) + (s < us) * 2 + (b[i] < u) * 4 + ((int64_t)u > b[i]) * 8 + (c == uc) * 16;
        out[i] ^= (u << 1) + ((uint64_t)b[i] >> 40) + (c >> 1) + (uc >> 1) + (-us >> 3);
        all += i % 2 ? c : u;
        all += i % 3 ? uc : -1L;
        u += c; u -= a[i]; u /= 3; us <<= 2; us %= 1000; c *= 5; c /= 2;
        all ^= (int64_t)u << 32 | us << 8 | (uint8_t)c;
    }
    return all;
}
