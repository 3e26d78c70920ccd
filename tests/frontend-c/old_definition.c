int f(a, b)
    int a;
    int b;
{
    return a + b;
}
int g(int n) { return f(n, 2) + q; }
//~ E3040 1:6-1:12 error: parameters without types are not supported
//~     label 1:6-1:12: an old form of definition
//~     help: write the types in the parentheses: `int f(int a, int b)`
//~ E3051 7:33-7:34 error: `q` is not declared
//~     label 7:33-7:34: not known
//~     help: declare it before
