int n;
static int k = n + 1;
int t[n];
static int g(int a) { return a; }
static int m = g(3);
int f(int a) { static int z = a; return z + k + m; }
//~ E3064 2:16-2:21 error: the initialiser of a variable that is static is no constant
//~     label 2:16-2:21: not constant
//~     help: assign it in the function, or compute the value beforehand
//~ E3064 3:7-3:8 error: the length of a variable of the file is not constant
//~     label 3:7-3:8: not constant
//~     help: write a literal, a macro or a constant of an enumeration
//~ E3064 5:16-5:20 error: a call outside of functions
//~     label 5:16-5:20: not constant
//~     help: compute the value beforehand, or in the function
//~ E3064 6:31-6:32 error: the initialiser of a variable that is static is no constant
//~     label 6:31-6:32: not constant
//~     help: assign it in the function, or compute the value beforehand
