int f(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i > 3) {
            s += i;
    }
    return s;
}
int g(int n)
{
    return n;
}
//~ E3050 2:1-2:2 error: a bracket that is not closed
//~     label 2:1-2:2: opened here
//~     help: close it with `}`
