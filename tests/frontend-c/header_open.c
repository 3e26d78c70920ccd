int f(int n, int m
{
    return n + m;
}
int g(int n) { return f(n, 2) + q; }
//~ E3050 1:6-1:7 error: a bracket that is not closed
//~     label 1:6-1:7: opened here
//~     help: close it with `)`
//~ E3051 5:33-5:34 error: `q` is not declared
//~     label 5:33-5:34: not known
//~     help: declare it before
