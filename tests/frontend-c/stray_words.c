int f(int n)
{
    int a = n; hello
    a = 3;
    this is junk;
    return a;
}
//~ E3051 3:16-3:21 error: `hello` is not declared
//~     label 3:16-3:21: not known
//~     help: declare it before
//~ E3050 3:21-3:21 error: a `;` is missing here
//~     label 3:21-3:21: behind this
//~     help: write `;`
//~ E3052 5:5-5:9 error: there is no type `this`
//~     label 5:5-5:9: no type
//~     help: declare it with `typedef` before, or write `struct` before its tag
