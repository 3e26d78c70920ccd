// run: old_declarations(n=5, in=int16[5], out=int64[5]=0)
#include <stdint.h>
struct pair { int a; long b; };
static int twice();
static long sum(), first();
long swapped();
static unsigned bits();
static int nothing() { return 7; }
int later();
int later(int, int);
int64_t old_declarations(int n, const int16_t in[static n], int64_t out[static n])
{
    int effects = 0;
    int seen();
    struct pair p = { 3, 40000000000 };
    for (int i = 0; i < n; i++) {
        out[i] = twice(in[i]) + sum(i, in, (long)n) + first("abc", in + i);
        out[i] += swapped(p) + bits(-i, (char)i);
        out[i] += nothing(effects++, in) + later(i, in[i]) + seen();
    }
    return effects;
}
static int twice(int v) { return 2 * v; }
static long sum(int n, const int16_t *in, long scale)
{
    long s = 0;
    for (int i = 0; i < n; i++) s += in[i];
    return s * scale;
}
static long first(const char *s, const int16_t p[1]) { return s[1] * 1000 + *p; }
long swapped(struct pair p) { return p.b * 10 + p.a; }
static unsigned bits(unsigned v, int shift) { return v >> shift; }
int later(int a, int b) { return a * b; }
int seen(void) { return 1; }
