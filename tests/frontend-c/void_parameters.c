int f(void x, int y) { return y; }
int g(void, int y) { return y; }
int h(int) { return 1; }
//~ E3060 1:12-1:13 error: a parameter of the type `void`
//~     label 1:12-1:13: no value
//~     help: give it a type with values; `(void)` alone says that there are none
//~ E3060 2:7-2:11 error: a parameter of the type `void`
//~     label 2:7-2:11: no value
//~     help: give it a type with values; `(void)` alone says that there are none
