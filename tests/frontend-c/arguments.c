static int g(int a, int *b, int c) { return a + b[0] + c; }
struct s { int a; };
int f(int n)
{
    struct s s = { n };
    int x[3] = { 1 };
    g(n);
    g(n, x);
    g(n, n, n);
    g(x, x, x);
    g(s, x, 1);
    return g(n, &n, 1, 2);
}
//~ E3054 7:5-7:9 error: `g` takes 3 arguments and is given 1
//~     label 7:5-7:9: 1 argument
//~     label 1:12-1:13: declared here
//~     help: give an argument for each parameter
//~ E3054 8:5-8:12 error: `g` takes 3 arguments and is given 2
//~     label 8:5-8:12: 2 arguments
//~     label 1:12-1:13: declared here
//~     help: give an argument for each parameter
//~ E3036 9:10-9:11 error: `int` given to a parameter of `g` of the type `int *`
//~     label 9:10-9:11: no pointer
//~     help: a number is no pointer: give an array, or an address with `&`
//~ E3036 10:7-10:8 error: `int *` given to a parameter of `g` of the type `int`
//~     label 10:7-10:8: a pointer
//~     help: a pointer is no number: name an element with `[0]` or `*`, or keep an index
//~ E3036 10:13-10:14 error: `int *` given to a parameter of `g` of the type `int`
//~     label 10:13-10:14: a pointer
//~     help: a pointer is no number: name an element with `[0]` or `*`, or keep an index
//~ E3053 11:7-11:8 error: `struct s` given to a parameter of `g` of the type `int`
//~     label 11:7-11:8: another type
//~     help: give a value of that type
//~ E3054 12:12-12:26 error: `g` takes 3 arguments and is given 4
//~     label 12:12-12:26: 4 arguments
//~     label 1:12-1:13: declared here
//~     help: give an argument for each parameter
