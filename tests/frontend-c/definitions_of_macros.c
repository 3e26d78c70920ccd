#define SQR (x) ((x) * (x))
#define ADD(a, b) a + b
#define EMPTY
#define STR(x) #y
#define VA(...) __VA_ARGS__
#define VB(x...) x
#define DUP(a, a) a
#define 
int f(int n)
{
    int a = SQR(n);
    int b = ADD(n);
    int c = EMPTY;
    int d = VA();
    return a + b + c + d;
}
//~ E3004 4:16-4:17 error: `#` stands before no parameter
//~     label 4:16-4:17: here
//~     help: write `#define NAME(a, b) text`
//~ E3004 6:12-6:13 error: a `,` or `)` is missing behind this
//~     label 6:12-6:13: here
//~     help: write `#define NAME(a, b) text`
//~ E3004 7:16-7:17 error: the parameter `a` is there twice
//~     label 7:16-7:17: here
//~     help: write `#define NAME(a, b) text`
//~ E3004 8:2-8:8 error: `#define` without a name
//~     label 8:2-8:8: asks for a name
//~     help: write the name of a macro
//~ E3051 11:13-11:16 error: `x` is not declared
//~     label 11:13-11:16: not known
//~     label 1:9-1:12: macro `SQR` is defined here
//~     help: its parameters begin right behind its name: remove the blank in `#define SQR (`
//~ E3005 12:13-12:16 error: macro `ADD` takes 2 arguments and is given 1
//~     label 12:13-12:16: used here
//~     help: give an argument for each parameter
//~ E3050 13:18-13:19 error: an expression is expected here
//~     label 13:18-13:19: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 14:17-14:18 error: an expression is expected here
//~     label 14:17-14:18: no value
//~     help: write the value, or leave out the operator before it
