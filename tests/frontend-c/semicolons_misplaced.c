int f(int n)
{
    if (n > 3) { n = 2 };
    while (n--) { n--; };
    for (int i = 0; i < n; i++;) { n--; }
    return n;
};
//~ E3050 3:23-3:23 error: a `;` is missing here
//~     label 3:23-3:23: behind this
//~     help: write `;`
//~ E3050 5:31-5:32 error: a `;` too many
//~     label 5:31-5:32: behind the third part
//~     help: leave it out: the three parts of a `for` have two `;` between them
