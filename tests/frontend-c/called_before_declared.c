int f(int n) { return helper(n) + other(n, 2); }
static int helper(int a) { return a; }
static int other(int a, int b) { return a + b; }
//~ E3051 1:23-1:29 error: `helper` is used before its declaration
//~     label 1:23-1:29: not known yet
//~     label 2:12-2:18: declared here
//~     help: move the declaration before this; of a function, write a prototype before
//~ E3051 1:35-1:40 error: `other` is used before its declaration
//~     label 1:35-1:40: not known yet
//~     label 3:12-3:17: declared here
//~     help: move the declaration before this; of a function, write a prototype before
