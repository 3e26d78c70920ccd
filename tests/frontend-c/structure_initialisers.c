struct c { int re, im; };
struct c a = { 1, 2, 3 };
struct c b = { .re = 1, .re = 2, .x = 3 };
struct c d[2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
struct c e = 5;
int g[3] = { [3] = 1, [-1] = 2, [1] = 7 };
int h[] = { [0] = 1, .x = 2 };
struct c k = { { 1 }, 2 };
int f(int n) { struct c z = { n, .im = "a" }; z = { 1, 2 }; return z.re; }
//~ E3065 2:22-2:23 error: more initialisers than there are elements or members
//~     label 2:22-2:23: one too many
//~     help: remove it
//~ E3067 3:35-3:36 error: `struct c` has no member `x`
//~     label 3:35-3:36: no member
//~     help: there are: re, im
//~ E3065 4:39-4:47 error: more initialisers than there are elements or members
//~     label 4:39-4:47: one too many
//~     help: remove it
//~ E3053 5:14-5:15 error: `int` given to a variable of the type `struct c`
//~     label 5:14-5:15: another type
//~     help: give a value of that type
//~ E3063 6:15-6:16 error: the designated element 3 is outside of the array
//~     label 6:15-6:16: outside
//~     help: name an element that there is
//~ E3063 6:24-6:26 error: the designated element -1 is outside of the array
//~     label 6:24-6:26: outside
//~     help: name an element that there is
//~ E3065 7:23-7:24 error: a designator that does not go with the type
//~     label 7:23-7:24: no part of it
//~     help: `[3]` names elements of arrays, `.x` members of structures
//~ E3036 9:40-9:43 error: a text is given to an element of the type `int`
//~     label 9:40-9:43: a text
//~     help: one character stands in single quotes, `'a'`; a text is for an array of `char` or a pointer to `const char`
//~ E3050 9:51-9:52 error: an expression is expected here
//~     label 9:51-9:52: no value
//~     help: write the value, or leave out the operator before it
