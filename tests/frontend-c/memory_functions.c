#include <string.h>
int f(int *a, const int *b, int n) { memcpy(b, a, n); memcpy(a, n, 4); memset(a, 0); memset(n, 0, 4); strcpy(a, b); return strlen("abc"); }
//~ E3055 2:45-2:46 error: `const int *` given to a parameter of `memcpy` of the type `void *` loses its `const`
//~     label 2:45-2:46: another pointer
//~     help: make the pointer one to `const`, or the object not `const`
//~ E3036 2:65-2:66 error: `int` given to a parameter of `memcpy` of the type `const void *`
//~     label 2:65-2:66: no pointer
//~     help: a number is no pointer: give an array, or an address with `&`
//~ E3054 2:72-2:84 error: `memset` takes 3 arguments and is given 2
//~     label 2:72-2:84: 2 arguments
//~     help: give an argument for each parameter
//~ E3036 2:93-2:94 error: `int` given to a parameter of `memset` of the type `void *`
//~     label 2:93-2:94: no pointer
//~     help: a number is no pointer: give an array, or an address with `&`
//~ E3027 2:103-2:109 error: the library function `strcpy` is not supported
//~     label 2:103-2:109: not provided
//~     help: write it as a loop over the characters
//~ E3027 2:124-2:130 error: the library function `strlen` is not supported
//~     label 2:124-2:130: not provided
//~     help: write it as a loop over the characters
