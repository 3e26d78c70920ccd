union u { int i; char c[4]; };
int f(int n)
{
    union u x;
    x.i = n;
    return x.c[0];
}
//~ E3021 1:1-1:6 error: unions are not supported
//~     label 1:1-1:6: not supported
//~     help: use a structure, or shifts and masks to take a word apart
//~ E3021 4:5-4:10 error: unions are not supported
//~     label 4:5-4:10: not supported
//~     help: use a structure, or shifts and masks to take a word apart
