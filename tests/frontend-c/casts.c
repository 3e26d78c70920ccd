int f(int n)
{
    int a = (int n);
    int b = int(n);
    int c = (unsigned)n;
    return (foo)n + (foo_t *)n;
}
//~ E3050 3:18-3:19 error: a name stands in a cast
//~     label 3:18-3:19: no part of a type
//~     help: a cast has nothing but the type in its parentheses: `(int)n`
//~ E3050 4:13-4:16 error: a type stands before a value
//~     label 4:13-4:16: a type
//~     help: write a cast as `(int)n`
//~ E3052 6:13-6:16 error: there is no type `foo`
//~     label 6:13-6:16: no type
//~     help: declare it with `typedef` before, or write `struct` before its tag
//~ E3052 6:22-6:27 error: there is no type `foo_t`
//~     label 6:22-6:27: no type
//~     help: declare it with `typedef` before, or write `struct` before its tag
