static int g(int a int b, int c) { return a + b + c; }
int f(int n) { return g(n n, 3) + g(n, , 3) + g(n, 2, ) + g(, n, 2); }
//~ E3050 1:19-1:19 error: a `,` is missing here
//~     label 1:19-1:19: behind this
//~     help: write `,`
//~ E3050 2:26-2:26 error: a `,` is missing here
//~     label 2:26-2:26: behind this
//~     help: write `,`, or an operator
//~ E3050 2:40-2:41 error: an expression is expected here
//~     label 2:40-2:41: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 2:55-2:56 error: an expression is expected here
//~     label 2:55-2:56: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 2:61-2:62 error: an expression is expected here
//~     label 2:61-2:62: no value
//~     help: write the value, or leave out the operator before it
