int a[3] = { 1, 2, 3;
int b[2][2] = { { 1, 2 }, { 3, 4 };
int c[] = 1, 2, 3;
int f(int n) { return a[0] + b[0][0] + c[0]; }
//~ E3050 1:12-1:13 error: a bracket that is not closed
//~     label 1:12-1:13: opened here
//~     help: close it with `}`
//~ E3050 2:15-2:16 error: a bracket that is not closed
//~     label 2:15-2:16: opened here
//~     help: close it with `}`
//~ E3050 3:14-3:15 error: a name is expected here
//~     label 3:14-3:15: no name
//~     help: write the name of what is declared or meant
