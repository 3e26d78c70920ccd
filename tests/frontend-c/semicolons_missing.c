int f(int n)
{
    int x = n
    int y = 2;
    x = y + 1
    y = x;
    return x + y
}
//~ E3050 3:14-3:14 error: a `;` is missing here
//~     label 3:14-3:14: behind this
//~     help: write `;`
//~ E3050 5:14-5:14 error: a `;` is missing here
//~     label 5:14-5:14: behind this
//~     help: write `;`
//~ E3050 7:17-7:17 error: a `;` is missing here
//~     label 7:17-7:17: behind this
//~     help: write `;`
