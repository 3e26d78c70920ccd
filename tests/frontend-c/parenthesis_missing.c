int f(int n)
{
    if n > 3
        return 1;
    if (n > 4 return 2;
    return n;
}
//~ E3050 3:8-3:9 error: a `(` is missing behind `if`
//~     label 3:8-3:9: not in parentheses
//~     help: put what stands behind it into parentheses: `if (...)`
//~ E3050 5:8-5:9 error: a bracket that is not closed
//~     label 5:8-5:9: opened here
//~     help: close it with `)`
