#include <stdlib.h>
int f(int n)
{
    int *p = malloc(n * sizeof(int));
    int *q = (int *)calloc(n, 4);
    p[0] = q[1];
    free(p);
    free(q);
    return p[0];
}
//~ E3027 4:14-4:20 error: the library function `malloc` is not supported
//~     label 4:14-4:20: not provided
//~     help: use arrays of a constant length, or array parameters
//~ E3027 5:21-5:27 error: the library function `calloc` is not supported
//~     label 5:21-5:27: not provided
//~     help: use arrays of a constant length, or array parameters
//~ E3027 7:5-7:9 error: the library function `free` is not supported
//~     label 7:5-7:9: not provided
//~     help: use arrays of a constant length, or array parameters
//~ E3027 8:5-8:9 error: the library function `free` is not supported
//~     label 8:5-8:9: not provided
//~     help: use arrays of a constant length, or array parameters
