int f(int n)
{
    for (int i = 0, i < n, i++) n--;
    for (int i = 0; i < n, i++) n--;
    for (i = 0; i < n; i++) n--;
    return n;
}
//~ E3050 3:23-3:24 error: this is not expected here
//~     label 3:23-3:24: unexpected
//~     help: the three parts of a `for` have `;` between them: `for (i = 0; i < n; i++)`
//~ E3050 4:31-4:32 error: this is not expected here
//~     label 4:31-4:32: unexpected
//~     help: the three parts of a `for` have `;` between them: `for (i = 0; i < n; i++)`
