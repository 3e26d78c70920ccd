#define ADD(a, b) ((a) + (b)
#define SEMI 4;
int f(int n)
{
    int x = ADD(n, 2);
    return x * (SEMI + 1);
}
//~ E3050 5:13-5:16 error: a bracket that is not closed
//~     label 5:13-5:16: opened here
//~     label 1:9-1:12: macro `ADD` is defined here
//~     help: close it with `)` in `#define ADD`, or behind this
//~ E3050 6:17-6:21 error: this is not expected here
//~     label 6:17-6:21: has the `;` of the macro in it
//~     label 2:9-2:13: macro `SEMI` is defined here
//~     help: remove the `;` from `#define SEMI`
