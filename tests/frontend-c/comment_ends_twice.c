int f(int n)
{
    /* comment */ more text */
    n = 3; */
    // fine
    / n = 4;
    return n;
}
//~ E3052 3:19-3:23 error: there is no type `more`
//~     label 3:19-3:23: no type
//~     help: declare it with `typedef` before, or write `struct` before its tag
//~ E3050 4:13-4:14 error: an expression is expected here
//~     label 4:13-4:14: no value
//~     help: write the value, or leave out the operator before it
