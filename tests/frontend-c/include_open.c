#include "stdint.h>
#include <stdint.h
int f(int16_t n) { return n; }
//~ E3004 1:10-1:20 error: `#include` without a file
//~     label 1:10-1:20: no name of a file
//~     help: close the name with `"`
//~ E3004 2:10-2:19 error: `#include` without a file
//~     label 2:10-2:19: no name of a file
//~     help: close the name with `>`
