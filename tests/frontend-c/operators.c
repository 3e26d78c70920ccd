int f(int n)
{
    int a = n =+ 3;
    a = n => 3;
    a = n =< 3;
    a = n <> 3;
    a = n ** 2;
    a = n ^^ 2;
    a = not n;
    a = n and 3;
    a += + ;
    a =! n;
    return a;
}
//~ E3050 4:11-4:13 error: there is no operator `=>`
//~     label 4:11-4:13: no operator
//~     help: write `>=`
//~ E3050 5:11-5:13 error: there is no operator `=<`
//~     label 5:11-5:13: no operator
//~     help: write `<=`
//~ E3050 6:11-6:13 error: there is no operator `<>`
//~     label 6:11-6:13: no operator
//~     help: write `!=`
//~ E3053 7:14-7:15 error: `int` is no pointer
//~     label 7:14-7:15: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
//~ E3050 8:11-8:13 error: there is no operator `^^`
//~     label 8:11-8:13: no operator
//~     help: write `!=` between truth values, or `^`
//~ E3050 9:9-9:12 error: `not` is a word of another language
//~     label 9:9-9:12: not C
//~     help: write `!`
//~ E3050 10:11-10:14 error: `and` is a word of another language
//~     label 10:11-10:14: not C
//~     help: write `&&`
//~ E3050 11:12-11:13 error: an expression is expected here
//~     label 11:12-11:13: no value
//~     help: write the value, or leave out the operator before it
