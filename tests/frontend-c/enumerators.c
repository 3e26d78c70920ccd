enum e { A = 1, B = A + , C };
enum { D, E F, G };
enum e2 { H = 5000000000 };
enum empty { };
int f(enum e x) { x = D; A = 3; return H; }
//~ E3050 1:25-1:26 error: an expression is expected here
//~     label 1:25-1:26: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 2:12-2:12 error: a `,` is missing here
//~     label 2:12-2:12: behind this
//~     help: write `,`
//~ E3064 3:11-3:12 error: `H` does not fit an `int`
//~     label 3:11-3:12: is 5000000000
//~     help: use a `static const` variable of a wider type
//~ E3050 4:14-4:15 error: a name is expected here
//~     label 4:14-4:15: no name
//~     help: write the name of what is declared or meant
