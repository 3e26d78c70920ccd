void f(int a[4]) { return 1; }
int g(int n) { return; }
int h(int n) { n++; }
void k(int a[4]) { int x = f(a); a[0] = f(a) + 1; if (f(a)) a[1] = x; }
//~ E3056 1:27-1:28 error: `return` with a value in a function that gives none
//~     label 1:27-1:28: a value
//~     help: leave the value out, or give the function a type
//~ E3056 2:16-2:23 error: `return` without a value in a function that gives `int`
//~     label 2:16-2:23: no value
//~     help: write the value behind it
//~ W3073 3:21-3:22 warning: `h` may end here without a value
//~     label 3:21-3:22: no `return`
//~     help: return a value on each way to the end
//~ E3053 4:28-4:32 error: what has no value is given to a variable of the type `int`
//~     label 4:28-4:32: no value
//~     help: give the function that is called a type of result, or leave its value out
//~ E3053 4:46-4:47 error: the operator does not take `void` and `int`
//~     label 4:46-4:47: between these
//~     help: use integers, or a pointer and an integer
//~ E3053 4:55-4:59 error: a condition of the type `void`
//~     label 4:55-4:59: no number
//~     help: compare a number with 0
