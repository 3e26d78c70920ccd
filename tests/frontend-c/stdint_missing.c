int16_t f(int16_t a, const uint8_t *p)
{
    int16_t b = a;
    int32_t s = 0;
    for (size_t i = 0; i < 4; i++) s += p[i];
    return b + s;
}
//~ E3052 1:1-1:8 error: there is no type `int16_t`
//~     label 1:1-1:8: no type
//~     help: write `#include <stdint.h>`
//~ E3052 5:10-5:16 error: there is no type `size_t`
//~     label 5:10-5:16: no type
//~     help: write `#include <stddef.h>`
