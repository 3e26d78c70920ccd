int f(int n)
{
    int a = 1 +;
    int b = n;
    b = b * / 2;
    if (n > ) { b = 2; b = )3; }
    for (int i = 0; i < n; i++ { b++; }
    return b;
}
//~ E3050 3:16-3:17 error: an expression is expected here
//~     label 3:16-3:17: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 5:13-5:14 error: an expression is expected here
//~     label 5:13-5:14: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 6:13-6:14 error: an expression is expected here
//~     label 6:13-6:14: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 6:28-6:29 error: a bracket without its partner
//~     label 6:28-6:29: closes nothing that is open
//~     help: remove it, or open it before
//~ E3050 7:9-7:10 error: a bracket that is not closed
//~     label 7:9-7:10: opened here
//~     help: close it with `)`
