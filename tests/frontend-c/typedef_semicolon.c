typedef struct { int re, im } cplx;
cplx f(cplx a, cplx b) { cplx c = { a.re * b.re, a.im }; return c; }
//~ E3050 1:28-1:28 error: a `;` is missing here
//~     label 1:28-1:28: behind this
//~     help: write `;`
