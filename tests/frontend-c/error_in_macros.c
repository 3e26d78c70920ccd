#define R1(x) x + x + x + x
#define R2(x) R1(R1(x)) + R1(R1(x))
#define R3(x) R2(R2(x))
#define BAD(x) R3(x) + undeclared_thing + R3(x)
int f(int n)
{
    return BAD(n);
}
//~ E3051 7:12-7:15 error: `undeclared_thing` is not declared
//~     label 7:12-7:15: not known
//~     label 4:9-4:12: macro `BAD` is defined here
//~     help: declare it before
