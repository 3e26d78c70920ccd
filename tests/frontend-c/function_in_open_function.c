int f(int n)
{
    if (n) {
        n++;

int g(int n)
{
    return n;
}

int h(int n)
{
    return n + zz;
}
//~ E3050 2:1-2:2 error: a bracket that is not closed
//~     label 2:1-2:2: opened here
//~     help: close it with `}`
//~ E3051 13:16-13:18 error: `zz` is not declared
//~     label 13:16-13:18: not known
//~     help: declare it before
