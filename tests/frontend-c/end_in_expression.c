int f(int n) { return n +
//~ E3050 1:14-1:15 error: a bracket that is not closed
//~     label 1:14-1:15: opened here
//~     help: close it with `}`
