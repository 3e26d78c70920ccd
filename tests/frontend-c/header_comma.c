int f(int n int m)
{
    return n + m;
}
int g(int n) { return f(n, 2) + q; }
//~ E3050 1:12-1:12 error: a `,` is missing here
//~     label 1:12-1:12: behind this
//~     help: write `,`
//~ E3051 5:33-5:34 error: `q` is not declared
//~     label 5:33-5:34: not known
//~     help: declare it before
