#include <stdarg.h>
int sum(int n, ...)
{
    va_list ap;
    va_start(ap, n);
    int s = 0;
    for (int i = 0; i < n; i++) s += va_arg(ap, int);
    va_end(ap);
    return s;
}
int f(int n) { return sum(2, n, 4); }
//~ E3009 1:10-1:20 error: there is no header <stdarg.h>
//~     label 1:10-1:20: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3028 2:8-2:20 error: functions with `...` are not supported
//~     label 2:8-2:20: takes any number
//~     help: give it all its parameters, or an array
//~ E3028 7:49-7:52 error: functions with `...` are not supported
//~     label 7:49-7:52: reads one of any number
//~     help: give the function all its parameters, or an array
