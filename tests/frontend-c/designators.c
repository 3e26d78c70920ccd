struct c { int re, im; };
int f(int n)
{
    struct c x = { .re = 1, .in = 2 };
    struct c y = { .imag = 1 };
    return x.re + y.im;
}
//~ E3067 4:30-4:32 error: `struct c` has no member `in`
//~     label 4:30-4:32: no member
//~     help: did you mean `im`?
//~ E3067 5:21-5:25 error: `struct c` has no member `imag`
//~     label 5:21-5:25: no member
//~     help: there are: re, im
