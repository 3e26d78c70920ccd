int f(int a)
{
    if (a > INT_MAX / 2) return INT16_MAX;
    return a == NULL;
}
//~ E3051 3:13-3:20 error: `INT_MAX` is not declared
//~     label 3:13-3:20: not known
//~     help: write `#include <limits.h>`
//~ E3051 3:33-3:42 error: `INT16_MAX` is not declared
//~     label 3:33-3:42: not known
//~     help: write `#include <stdint.h>`
//~ E3051 4:17-4:21 error: `NULL` is not declared
//~     label 4:17-4:21: not known
//~     help: write `#include <stddef.h>`
