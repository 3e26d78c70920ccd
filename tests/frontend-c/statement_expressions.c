#define MAX(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
int f(int n, int m) { return MAX(n, m) + MAX(n, 3); }
//~ E3035 2:30-2:33 error: `typeof` is not supported
//~     label 2:30-2:33: not supported
//~     label 1:9-1:12: macro `MAX` is defined here
//~     help: write the type
//~ E3045 2:30-2:33 error: statements in expressions are not supported
//~     label 2:30-2:33: not supported
//~     label 1:9-1:12: macro `MAX` is defined here
//~     help: put them into a function that returns the value
