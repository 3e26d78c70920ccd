#include <complex.h>
double complex f(double complex x) { return x * I; }
//~ E3009 1:10-1:21 error: there is no header <complex.h>
//~     label 1:10-1:21: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3020 2:1-2:7 error: floating-point types are not supported
//~     label 2:1-2:7: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3020 2:8-2:15 error: complex types are not supported
//~     label 2:8-2:15: not C
//~     help: use a structure of two integers
//~ E3020 2:18-2:24 error: floating-point types are not supported
//~     label 2:18-2:24: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3020 2:25-2:32 error: complex types are not supported
//~     label 2:25-2:32: not C
//~     help: use a structure of two integers
