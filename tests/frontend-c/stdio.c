#include <stdio.h>
#include <math.h>
int main(void)
{
    printf("hello %d\n", 3);
    int x;
    scanf("%d", &x);
    double y = sqrt(2.0);
    return x;
}
//~ E3009 1:10-1:19 error: there is no header <stdio.h>
//~     label 1:10-1:19: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3009 2:10-2:18 error: there is no header <math.h>
//~     label 2:10-2:18: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3027 5:5-5:11 error: the library function `printf` is not supported
//~     label 5:5-5:11: not provided
//~     help: write what is of interest into an array that is not `const`: it is an output
//~ E3027 7:5-7:10 error: the library function `scanf` is not supported
//~     label 7:5-7:10: not provided
//~     help: write what is of interest into an array that is not `const`: it is an output
//~ E3020 8:5-8:11 error: floating-point types are not supported
//~     label 8:5-8:11: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3027 8:16-8:20 error: the library function `sqrt` is not supported
//~     label 8:16-8:20: not provided
//~     help: use a table in fixed point
//~ E3020 8:21-8:24 error: the floating-point number `2.0` is not supported
//~     label 8:21-8:24: this literal
//~     help: scale it to an integer: 0.5 with 15 fraction bits is 16384
