int t[4] = { 1 2, 3, 4 };
static int g(int a, int b) { return a + b; }
int f(int n)
{
    int a b;
    return g(n 2);
}
//~ E3050 1:15-1:15 error: a `,` is missing here
//~     label 1:15-1:15: behind this
//~     help: write `,`, or an operator
//~ E3050 5:11-5:12 error: this is not expected here
//~     label 5:11-5:12: unexpected
//~     help: a `,` or a `;` may be missing before this
//~ E3050 6:15-6:15 error: a `,` is missing here
//~     label 6:15-6:15: behind this
//~     help: write `,`, or an operator
