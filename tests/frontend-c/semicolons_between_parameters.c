int f(int a; int b)
{
    return a + b;
}
int g(int a, int b,)
{
    return a + zz;
}
//~ E3050 1:12-1:13 error: a `;` between parameters
//~     label 1:12-1:13: not `,`
//~     help: write `,`
//~ E3050 5:20-5:21 error: this is not expected here
//~     label 5:20-5:21: unexpected
//~     help: leave it out, or complete what stands before
