#define CAT(a, b) a ## b
int f(int n)
{
    int x = CAT(n, +) 1;
    return CAT(+, *) x;
}
//~ E3005 4:13-4:16 error: `##` makes `n+`, which is no token
//~     label 4:13-4:16: in this use
//~     label 1:9-1:12: macro `CAT` is defined here
//~     help: join what is one name, number or operator together
//~ E3005 5:12-5:15 error: `##` makes `+*`, which is no token
//~     label 5:12-5:15: in this use
//~     label 1:9-1:12: macro `CAT` is defined here
//~     help: join what is one name, number or operator together
