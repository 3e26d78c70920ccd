#include <stdint.h>
static int g(int a, int16_t *b);
int f(int n)
{
    int16_t x[4] = { 0 };
    return g(n, x);
}
static int g(int a, int32_t *b) { return a + b[0]; }
//~ E3058 8:12-8:13 error: `g` is declared with another type
//~     label 8:12-8:13: another type
//~     label 2:12-2:13: declared here
//~     help: make the declarations the same
