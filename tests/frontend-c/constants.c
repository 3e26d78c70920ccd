#define N 4
static const int K = 4;
int t[K];
int u[N - 4];
int v[N / 0];
enum { X = K };
int f(int n) { switch (n) { case K: return 1; } int w[K]; return w[n]; }
//~ E3064 3:7-3:8 error: the length of a variable of the file is not constant
//~     label 3:7-3:8: not constant
//~     help: write a literal, a macro or a constant of an enumeration
//~ E3061 4:7-4:12 error: an array of 0 elements
//~     label 4:7-4:12: not positive
//~     help: give it at least one element
//~ E3062 5:7-5:12 error: a division by zero
//~     label 5:7-5:12: divides by 0
//~     help: divide by what is not 0
//~ E3064 6:12-6:13 error: this is no constant expression
//~     label 6:12-6:13: not constant
//~     help: use literals, constants of enumerations, `sizeof` and macros
//~ E3064 7:34-7:35 error: this is no constant expression
//~     label 7:34-7:35: not constant
//~     help: use literals, constants of enumerations, `sizeof` and macros
//~ E3026 7:55-7:56 error: variable-length arrays are not supported
//~     label 7:55-7:56: not constant
//~     help: give it a constant length, the largest that is needed
