int f(int n)
{
    int a = 1 +;
    int b = n;
    b = b * / 2;
    if (n > ) { b = 2; }
    while n { b--; }
    return b + a;
}
int g(int m)
{
    return m @ 2;
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
//~ E3050 7:11-7:12 error: a `(` is missing behind `while`
//~     label 7:11-7:12: not in parentheses
//~     help: put what stands behind it into parentheses: `while (...)`
//~ E3001 12:14-12:15 error: unexpected character `@`
//~     label 12:14-12:15: starts no token
//~     help: remove it, or put it into a comment
