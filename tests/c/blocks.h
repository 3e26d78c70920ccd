#pragma once
typedef short sample;
enum { BLOCK = 4, BITS = 2 };
typedef struct { long total; int count; } sum;
static inline sum accumulate(sum s, const sample x[BLOCK])
{
    for (int i = 0; i < BLOCK; i++) s.total += x[i];
    s.count++;
    return s;
}
