static int add(int a, int b) { return a + b; }
typedef int (*op)(int, int);
static int apply(int (*f)(int, int), int a) { return f(a, a); }
int f(int n)
{
    int (*p)(int, int) = add;
    op q = &add;
    int (*t[2])(int, int) = { add, add };
    return p(n, 1) + q(n, 2) + apply(add, n) + t[0](1, 2) + (*p)(1, 2);
}
//~ E3024 2:15-2:17 error: function pointers are not supported
//~     label 2:15-2:17: points to a function
//~     help: call the functions by their names, chosen with `if` or `switch`
//~ E3024 3:24-3:25 error: function pointers are not supported
//~     label 3:24-3:25: points to a function
//~     help: call the functions by their names, chosen with `if` or `switch`
//~ E3024 6:11-6:12 error: function pointers are not supported
//~     label 6:11-6:12: points to a function
//~     help: call the functions by their names, chosen with `if` or `switch`
//~ E3024 8:11-8:12 error: function pointers are not supported
//~     label 8:11-8:12: points to a function
//~     help: call the functions by their names, chosen with `if` or `switch`
