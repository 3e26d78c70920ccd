// run: blocks(n=12, x=int16[12], y=int32[12]=0)
#include "blocks.h"
#include "blocks.h"
#define SHIFT(v) ((v) >> BITS)
int blocks(int n, const sample *x, int y[n])
{
    sum s = { 0 };
    for (int b = 0; b < n / BLOCK; b++) {
        s = accumulate(s, x + b * BLOCK);
        for (int i = 0; i < BLOCK; i++)
            y[b * BLOCK + i] = SHIFT(s.total) + x[b * BLOCK + i];
    }
    return s.count;
}
