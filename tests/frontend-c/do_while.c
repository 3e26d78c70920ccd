int f(int n)
{
    do n--; while (n > 0)
    do { n--; }
    return n;
}
//~ E3050 3:26-3:26 error: a `;` is missing here
//~     label 3:26-3:26: behind this
//~     help: write `;`
//~ E3050 5:5-5:11 error: `while` is expected here
//~     label 5:5-5:11: something else
//~     help: complete what stands before, or leave it out
