int f(int n)
{
    long a = (long long)n;
    int b = (int)a, c = int(a);
    short d = (short)n + (short);
    int e = (n)-1 + (int)-1;
    struct s { int x; } t = (struct s)n;
    int *p = (int *)&n;
    char *q = (char *)&n;
    return b;
}
//~ E3050 4:25-4:28 error: a type stands before a value
//~     label 4:25-4:28: a type
//~     help: write a cast as `(int)n`
//~ E3050 5:33-5:34 error: an expression is expected here
//~     label 5:33-5:34: no value
//~     help: write the value, or leave out the operator before it
//~ E3053 7:29-7:40 error: `int` is not cast to `struct s`
//~     label 7:29-7:40: no such cast
//~     help: cast integers
//~ E3036 9:15-9:25 error: `int *` is not cast to `char *`
//~     label 9:15-9:25: no such cast
//~     help: copy the elements, or take integers apart with shifts and masks
