static void g(int n) { n++; }
int f(int n)
{
    int x = g(n);
    x = g(n) + 1;
    x += g(n);
    if (g(n)) x++;
    g(g(n));
    return g(n);
}
//~ E3053 4:13-4:17 error: what has no value is given to a variable of the type `int`
//~     label 4:13-4:17: no value
//~     help: give the function that is called a type of result, or leave its value out
//~ E3053 5:14-5:15 error: the operator does not take `void` and `int`
//~     label 5:14-5:15: between these
//~     help: use integers, or a pointer and an integer
//~ E3053 6:5-6:14 error: the operator does not take `int` and `void`
//~     label 6:5-6:14: between these
//~     help: use integers, or a pointer and an integer
//~ E3053 7:9-7:13 error: a condition of the type `void`
//~     label 7:9-7:13: no number
//~     help: compare a number with 0
//~ E3053 8:7-8:11 error: what has no value is given to a parameter of `g` of the type `int`
//~     label 8:7-8:11: no value
//~     help: give the function that is called a type of result, or leave its value out
//~ E3053 9:12-9:16 error: what has no value is given to the result of the type `int`
//~     label 9:12-9:16: no value
//~     help: give the function that is called a type of result, or leave its value out
