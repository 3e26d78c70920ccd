int f(int n, int m)
{
    int a[n];
    int b[n][m];
    int c[4][n];
    static int d[n];
    a[0] = 1;
    b[1][2] = a[0];
    return a[0] + sizeof(a);
}
//~ E3026 3:11-3:12 error: variable-length arrays are not supported
//~     label 3:11-3:12: not constant
//~     help: give it a constant length, the largest that is needed
//~ E3026 4:11-4:12 error: variable-length arrays are not supported
//~     label 4:11-4:12: not constant
//~     help: give it a constant length, the largest that is needed
//~ E3026 4:14-4:15 error: variable-length arrays are not supported
//~     label 4:14-4:15: not constant
//~     help: give it a constant length, the largest that is needed
//~ E3026 5:14-5:15 error: variable-length arrays are not supported
//~     label 5:14-5:15: not constant
//~     help: give it a constant length, the largest that is needed
//~ E3026 6:18-6:19 error: variable-length arrays are not supported
//~     label 6:18-6:19: not constant
//~     help: give it a constant length, the largest that is needed
