#include <iostream>
#include <vector>
using namespace std;
template <typename T> T g(T a) { return a; }
class A { public: int x; };
int f(int n, int &m) { auto x = n; int *p = nullptr; std::vector<int> v; for (auto y : v) x += y; return x; }
//~ E3009 1:10-1:20 error: there is no header <iostream>
//~     label 1:10-1:20: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3009 2:10-2:18 error: there is no header <vector>
//~     label 2:10-2:18: not known
//~     help: there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> and <assert.h>
//~ E3050 3:1-3:6 error: `using` is a word of another language
//~     label 3:1-3:6: not C
//~     help: write it in C11
//~ E3050 6:18-6:19 error: there are no references in C
//~     label 6:18-6:19: no pointer
//~     help: declare a pointer with `*`, and give it an address
//~ E3068 6:24-6:28 error: a declaration without a type
//~     label 6:24-6:28: names no type
//~     help: write the type, as in `const int` or `static int16_t`
//~ E3050 6:58-6:59 error: an expression is expected here
//~     label 6:58-6:59: no value
//~     help: write the value, or leave out the operator before it
//~ E3050 6:86-6:87 error: this is not expected here
//~     label 6:86-6:87: unexpected
//~     help: the three parts of a `for` have `;` between them: `for (i = 0; i < n; i++)`
