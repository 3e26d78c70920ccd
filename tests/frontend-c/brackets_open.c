int f(int n) {
    int a[3] = { 1, 2, 3 ;
    int b = (n + (2 * a[1);
    if (n) { b = 2;
    return b;
//~ E3050 1:14-1:15 error: a bracket that is not closed
//~     label 1:14-1:15: opened here
//~     help: close it with `}`
//~ E3050 2:16-2:17 error: a bracket that is not closed
//~     label 2:16-2:17: opened here
//~     help: close it with `}`
//~ E3050 3:13-3:14 error: a bracket that is not closed
//~     label 3:13-3:14: opened here
//~     help: close it with `)`
//~ E3050 3:24-3:25 error: a bracket that is not closed
//~     label 3:24-3:25: opened here
//~     label 3:26-3:27: closes one before it
//~     help: close it with `]`
