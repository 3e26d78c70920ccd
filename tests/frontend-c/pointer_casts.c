#include <stdint.h>
int f(const uint8_t *p, int n)
{
    const uint32_t *w = (const uint32_t *)p;
    uintptr_t a = (uintptr_t)p;
    long b = (long)p;
    int *q = (int *)n;
    return w[0] + a + b + *q;
}
//~ E3036 4:25-4:44 error: `const unsigned char *` is not cast to `const unsigned int *`
//~     label 4:25-4:44: no such cast
//~     help: copy the elements, or take integers apart with shifts and masks
//~ E3052 5:5-5:14 error: there is no type `uintptr_t`
//~     label 5:5-5:14: no type
//~     help: pointers are no integers here: keep an index into the array, a `ptrdiff_t`
//~ E3036 6:14-6:21 error: `const unsigned char *` is not cast to `long`
//~     label 6:14-6:21: no such cast
//~     help: copy the elements, or take integers apart with shifts and masks
//~ E3036 7:14-7:22 error: `int` is not cast to `int *`
//~     label 7:14-7:22: no such cast
//~     help: copy the elements, or take integers apart with shifts and masks
