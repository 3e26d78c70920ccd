int f(int n)
{
    int x = (n + 3) * 2);
    int y = (n + 3;
    return x + y;
}
//~ E3050 3:24-3:25 error: a bracket without its partner
//~     label 3:24-3:25: closes nothing that is open
//~     help: remove it, or open it before
//~ E3050 4:13-4:14 error: a bracket that is not closed
//~     label 4:13-4:14: opened here
//~     help: close it with `)`
