// run: f(l=uint16[16]%9, x=int64[21]%32767)
#include <stdint.h>
void f(const uint16_t l[16], int64_t x[21])
{
    for (int i = 0; i < 11; i++)
        x[i + 3] = l[i] + (x[i] >> 2) - x[i + 1];
}
