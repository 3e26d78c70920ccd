int f(int a[4], int n)
{
    a[n) = 3;
    if (n] { n++; }
    return a(0];
}
//~ E3050 3:6-3:7 error: a bracket that is not closed
//~     label 3:6-3:7: opened here
//~     label 3:8-3:9: is another kind of bracket
//~     help: close it with `]`
//~ E3050 4:8-4:9 error: a bracket that is not closed
//~     label 4:8-4:9: opened here
//~     label 4:10-4:11: is another kind of bracket
//~     help: close it with `)`
//~ E3053 5:12-5:13 error: `a` is called and is a variable of the type `int *`
//~     label 5:12-5:13: no function
//~     label 1:11-1:12: declared here
//~     help: elements are named with brackets, `a[i]`; a product is written with `*`
//~ E3050 5:13-5:14 error: a bracket that is not closed
//~     label 5:13-5:14: opened here
//~     label 5:15-5:16: is another kind of bracket
//~     help: close it with `)`
