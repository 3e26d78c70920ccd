int f(int n)
{
    int count = n;
    return count(3) + count * n(2);
}
//~ E3053 4:12-4:17 error: `count` is called and is a variable of the type `int`
//~     label 4:12-4:17: no function
//~     label 3:9-3:14: declared here
//~     help: a product is written with `*`; else choose the name of a function
//~ E3053 4:31-4:32 error: `n` is called and is a variable of the type `int`
//~     label 4:31-4:32: no function
//~     label 1:11-1:12: declared here
//~     help: a product is written with `*`; else choose the name of a function
