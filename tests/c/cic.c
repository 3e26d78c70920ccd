// run: cic(n=40, x=int16[40], y=int32[10]=0)
#include <stdint.h>
#include <assert.h>
#define STAGES 3
int cic(int n, const int16_t x[n], int32_t y[n / 4])
{
    int32_t integ[STAGES] = {0}, comb[STAGES] = {0};
    int out = 0;
    assert(n % 4 == 0 && "a multiple of four");
    for (int i = 0; i < n; i++) {
        integ[0] += x[i];
        for (int s = 1; s < STAGES; s++) integ[s] += integ[s - 1];
        if ((i & 3) == 3) {
            int32_t v = integ[STAGES - 1];
            for (int s = 0; s < STAGES; s++) { int32_t t = v - comb[s]; comb[s] = v; v = t; }
            y[out++] = v >> 6;
        }
    }
    return out;
}
