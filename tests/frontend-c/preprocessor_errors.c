#include "missing1.h"
#include "missing2.h"
#if 1 +
int x;
#endif
#undef
#error first
#error second
#define F(a b) a
int f(int n) { return n + zz; }
//~ E3010 1:10-1:22 error: cannot include "missing1.h": there is no such file
//~     label 1:10-1:22: not read
//~     help: name a file beside this one, or its folder with -I
//~ E3010 2:10-2:22 error: cannot include "missing2.h": there is no such file
//~     label 2:10-2:22: not read
//~     help: name a file beside this one, or its folder with -I
//~ E3004 3:2-3:4 error: a value is missing
//~     label 3:2-3:4: in this condition
//~     help: a condition is an expression of integers and names
//~ E3004 6:2-6:7 error: `#undef` without a name
//~     label 6:2-6:7: asks for a name
//~     help: write the name of a macro
//~ E3006 7:2-7:7 error: #error first
//~     label 7:2-7:7: the source says so
//~     help: do what the source asks for
//~ E3006 8:2-8:7 error: #error second
//~     label 8:2-8:7: the source says so
//~     help: do what the source asks for
//~ E3004 9:11-9:12 error: a `,` or `)` is missing behind this
//~     label 9:11-9:12: here
//~     help: write `#define NAME(a, b) text`
