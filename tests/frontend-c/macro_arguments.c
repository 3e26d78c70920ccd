#define MAX(a, b) ((a) > (b) ? (a) : (b))
int f(int n)
{
    int a = MAX(n);
    int b = MAX(n, 2, 3);
    int c = MAX(n, 2;
    return a + b + c;
}
//~ E3005 4:13-4:16 error: macro `MAX` takes 2 arguments and is given 1
//~     label 4:13-4:16: used here
//~     help: give an argument for each parameter
//~ E3005 5:13-5:16 error: macro `MAX` takes 2 arguments and is given 3
//~     label 5:13-5:16: used here
//~     help: give an argument for each parameter
//~ E3005 6:13-6:16 error: the use of `MAX` does not end
//~     label 6:13-6:16: its arguments begin here
//~     help: close its arguments with `)`
