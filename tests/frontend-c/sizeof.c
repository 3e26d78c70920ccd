int f(int *p, int n)
{
    int a = sizeof(foo);
    int b = sizeof int;
    int c = sizeof(struct nope);
    int d = sizeof(p) / sizeof(p[0]);
    return a + b + c + d;
}
//~ E3051 3:20-3:23 error: `foo` is not declared
//~     label 3:20-3:23: not known
//~     help: declare it before
//~ E3050 4:20-4:23 error: `sizeof` of a type without parentheses
//~     label 4:20-4:23: a type
//~     help: write `sizeof(int)`
//~ E3060 5:13-5:32 error: `struct nope` has no size
//~     label 5:13-5:32: not complete
//~     help: ask for the size of a type that is complete
