int f(int n);
{
    return n;
}
int g(int n) { return q; }
//~ E3050 2:1-2:2 error: braces outside of functions
//~     label 2:1-2:2: of no function
//~     help: remove the `;` before it if this is the body of a function
//~ E3051 5:23-5:24 error: `q` is not declared
//~     label 5:23-5:24: not known
//~     help: declare it before
