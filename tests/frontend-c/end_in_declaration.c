int x = 3;
int f(int
//~ E3050 2:6-2:7 error: a bracket that is not closed
//~     label 2:6-2:7: opened here
//~     help: close it with `)`
