// run: words64(n=8, a=int64[8], b=uint64[8], out=int64[8]=0)
#include <stdint.h>
#include <stdlib.h>
uint64_t words64(int n, const int64_t a[n], const uint64_t b[n], int64_t out[n])
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < n; i++) {
        out[i] = (a[i] * (int64_t)b[i] + (a[i] >> (b[i] & 63))) ^ (int64_t)(b[i] << 7);
        out[i] += a[i] / 1000003 - b[i] % 1000003u + llabs(a[i]) % 97 + labs(a[i]) / 3 + abs((int)a[i]) % 5;
        hash = (hash ^ b[i]) * 1099511628211u;
        hash += a[i] < (int64_t)b[i];
        hash -= (uint64_t)a[i] < b[i];
    }
    return hash;
}
