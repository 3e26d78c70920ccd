int f(int n)
    n = n + 1;
    return n;
}
int g(int n) { return q; }
//~ E3050 1:13-1:13 error: the `{` of a function is missing here
//~     label 1:13-1:13: behind its head
//~     help: put the statements of the function into braces
//~ E3051 5:23-5:24 error: `q` is not declared
//~     label 5:23-5:24: not known
//~     help: declare it before
