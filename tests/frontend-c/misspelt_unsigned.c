unsinged f(int n)
{
    unsinged int x = n;
    unsinged y = n;
    return x + y;
}
//~ E3050 1:1-1:9 error: `unsinged` is no word of the language
//~     label 1:1-1:9: not known
//~     help: did you mean `unsigned`?
//~ E3050 3:5-3:13 error: `unsinged` is no word of the language
//~     label 3:5-3:13: not known
//~     help: did you mean `unsigned`?
//~ E3050 4:5-4:13 error: `unsinged` is no word of the language
//~     label 4:5-4:13: not known
//~     help: did you mean `unsigned`?
