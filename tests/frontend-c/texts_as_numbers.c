int f(int n)
{
    int x = "abc";
    n = "abc" + n * "def";
    return "x";
}
//~ E3036 3:13-3:18 error: a text is given to a variable of the type `int`
//~     label 3:13-3:18: a text
//~     help: one character stands in single quotes, `'a'`; a text is for an array of `char` or a pointer to `const char`
//~ E3053 4:19-4:20 error: the operator does not take `int` and `char *`
//~     label 4:19-4:20: between these
//~     help: use integers, or a pointer and an integer
//~ E3036 5:12-5:15 error: a text is given to the result of the type `int`
//~     label 5:12-5:15: a text
//~     help: one character stands in single quotes, `'a'`; a text is for an array of `char` or a pointer to `const char`
