#define SQR(x) ((x) * (x)
int f(int n)
{
    return SQR(n);
}
int g(int n) { return SQR(n) + zz; }
//~ E3050 4:12-4:15 error: a bracket that is not closed
//~     label 4:12-4:15: opened here
//~     label 1:9-1:12: macro `SQR` is defined here
//~     help: close it with `)` in `#define SQR`, or behind this
//~ E3051 6:32-6:34 error: `zz` is not declared
//~     label 6:32-6:34: not known
//~     help: declare it before
