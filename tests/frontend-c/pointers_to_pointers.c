int f(int **p, int n)
{
    int *q = p[0];
    int **r = &q;
    char *argv[3];
    return **r + q[n];
}
//~ E3037 1:13-1:14 error: pointers to pointers are not supported
//~     label 1:13-1:14: points to a pointer
//~     help: return the pointer, or use an index into the array
//~ E3037 4:11-4:12 error: pointers to pointers are not supported
//~     label 4:11-4:12: points to a pointer
//~     help: return the pointer, or use an index into the array
//~ E3037 4:15-4:17 error: pointers to pointers are not supported
//~     label 4:15-4:17: points to a pointer
//~     help: return the pointer, or use an index into the array
//~ E3038 5:15-5:18 error: pointers in arrays are not supported
//~     label 5:15-5:18: holds pointers
//~     help: use an array of more dimensions, or indices into one array
