int[4] f(int n) { int a[4]; return a; }
int g(int n)[4] { return n; }
int *h(int n) { int a[4]; return a; }
//~ E3050 1:4-1:5 error: a name is expected here
//~     label 1:4-1:5: no name
//~     help: write the name of what is declared or meant
//~ E3053 2:5-2:6 error: a function returns an array
//~     label 2:5-2:6: not a value
//~     help: return a structure, or fill an array that is given
