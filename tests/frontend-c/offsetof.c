#include <stddef.h>
struct s { int a, b; };
int f(int n) { return offsetof(struct s, c) + offsetof(int, a) + offsetof(struct t, a) + offsetof(s, a); }
//~ E3067 3:42-3:43 error: `struct s` has no member `c`
//~     label 3:42-3:43: no member
//~     help: there are: a, b
//~ E3067 3:61-3:62 error: `int` has no members
//~     label 3:61-3:62: no member
//~     help: use a structure
//~ E3067 3:85-3:86 error: `struct t` is not complete
//~     label 3:85-3:86: no member
//~     help: define its members before
//~ E3052 3:99-3:100 error: there is no type `s`
//~     label 3:99-3:100: no type
//~     help: write `struct s`: it is a tag
