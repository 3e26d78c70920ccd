#include <inttypes.h>
int f(int n) { printf("%" PRId32 "\n", n); return n; }
//~ E3009 1:10-1:22 error: there is no header <inttypes.h>
//~     label 1:10-1:22: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3027 2:16-2:22 error: the library function `printf` is not supported
//~     label 2:16-2:22: not provided
//~     help: write what is of interest into an array that is not `const`: it is an output
