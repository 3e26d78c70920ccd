#include <stdint>
#include stdint.h
#include "stdint.h
#inclde <stdint.h>
#define
#define 3 4
#define N=4
#ifdef
#endif
#endif
#if N > 
#endif
#else
int f(int n) { return n; }
//~ E3009 1:10-1:18 error: there is no header <stdint>
//~     label 1:10-1:18: not known
//~     help: did you mean <stdint.h>?
//~ E3004 2:10-2:18 error: `#include` without a file
//~     label 2:10-2:18: no name of a file
//~     help: write `#include <stdint.h>`
//~ E3004 3:10-3:19 error: `#include` without a file
//~     label 3:10-3:19: no name of a file
//~     help: close the name with `"`
//~ E3004 4:2-4:8 error: there is no `#inclde`
//~     label 4:2-4:8: no directive
//~     help: did you mean `#include`?
//~ E3004 5:2-5:8 error: `#define` without a name
//~     label 5:2-5:8: asks for a name
//~     help: write the name of a macro
//~ E3004 6:9-6:10 error: `#define` of `3`, which is no name
//~     label 6:9-6:10: no name
//~     help: write the name of a macro
//~ E3004 8:2-8:7 error: `#ifdef` without a name
//~     label 8:2-8:7: asks for a name
//~     help: write the name of a macro
//~ E3004 10:2-10:7 error: `#endif` without `#if`
//~     label 10:2-10:7: belongs to no condition
//~     help: begin the condition with `#if`
//~ E3004 11:5-11:6 error: this is no integer
//~     label 11:5-11:6: in this condition
//~     label 7:9-7:10: macro `N` is defined here
//~     help: a condition is an expression of integers and names
//~ E3004 13:2-13:6 error: `#else` without `#if`
//~     label 13:2-13:6: belongs to no condition
//~     help: begin the condition with `#if`
