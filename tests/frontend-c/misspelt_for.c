int f(int n)
{
    int s = 0;
    fro (int i = 0; i < n; i++) {
        s += i;
    }
    return s;
}
//~ E3050 4:5-4:8 error: `fro` is no word of the language
//~     label 4:5-4:8: not known
//~     help: did you mean `for`?
