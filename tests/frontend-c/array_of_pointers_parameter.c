int f(int *p[4], int n)
{
    return p[0][n] + p[1][0];
}
//~ E3038 1:13-1:16 error: pointers in arrays are not supported
//~     label 1:13-1:16: holds pointers
//~     help: use an array of more dimensions, or indices into one array
