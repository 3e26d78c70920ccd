typedef int myint
typedef unsigned u8;
typedef struct { int a; } s_t
int f(myint n) { s_t x; u8 y = n; return x.a + y; }
//~ E3050 1:18-1:18 error: a `;` is missing here
//~     label 1:18-1:18: behind this
//~     help: write `;`
//~ E3050 3:30-3:30 error: a `;` is missing here
//~     label 3:30-3:30: behind this
//~     help: write `;`
