int f(int n)
{
    return _Generic(n, int: 1, default: 2) + q;
}
//~ E3031 3:12-3:20 error: `_Generic` is not supported
//~     label 3:12-3:20: not supported
//~     help: call the function for the type by its name
//~ E3051 3:46-3:47 error: `q` is not declared
//~     label 3:46-3:47: not known
//~     help: declare it before
