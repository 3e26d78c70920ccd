int f(int n)
{
    for (int i = 0; i < n; i++)
        int x = i;
    for (i = 0; i < n; i++) n++;
    for (int j; j < n) n++;
    for (;;;) n++;
    return n + i;
}
//~ E3050 4:9-4:12 error: a declaration is no statement
//~     label 4:9-4:12: a declaration
//~     help: put it into braces
//~ E3051 4:17-4:18 error: `i` is not declared
//~     label 4:17-4:18: not known
//~     help: declare it before
//~ E3050 6:22-6:23 error: this is not expected here
//~     label 6:22-6:23: unexpected
//~     help: the three parts of a `for` have `;` between them: `for (i = 0; i < n; i++)`
//~ E3050 7:12-7:13 error: a `;` too many
//~     label 7:12-7:13: behind the third part
//~     help: leave it out: the three parts of a `for` have two `;` between them
