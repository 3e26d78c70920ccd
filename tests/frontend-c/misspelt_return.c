int f(int n)
{
    int x = n;
    retrun x;
}
//~ E3050 4:5-4:11 error: `retrun` is no word of the language
//~     label 4:5-4:11: not known
//~     help: did you mean `return`?
