int f(int n)
{
    if (n > 3);
        n = 2;
    else
        n = 4;
    return n;
}
//~ E3050 5:5-5:9 error: an `else` without its `if`
//~     label 5:5-5:9: belongs to no `if`
//~     help: it stands behind the one statement of an `if`; put several into braces: `if (a) { ... } else { ... }`
