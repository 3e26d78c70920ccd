f(int n) { return n; }
g(n) { return n; }
static h(void) { return 1; }
//~ E3050 1:1-1:2 error: the function `f` has no type
//~     label 1:1-1:2: no type before it
//~     help: write the type of its result: `int f(...)`, or `void`
//~ E3050 2:1-2:2 error: the function `g` has no type
//~     label 2:1-2:2: no type before it
//~     help: write the type of its result: `int g(...)`, or `void`
//~ E3040 2:2-2:5 error: parameters without types are not supported
//~     label 2:2-2:5: an old form of definition
//~     help: write the types in the parentheses: `int f(int a, int b)`
//~ E3068 3:1-3:7 error: a declaration without a type
//~     label 3:1-3:7: names no type
//~     help: write the type, as in `const int` or `static int16_t`
