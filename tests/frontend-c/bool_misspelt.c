#include <stdbool.h>
bool f(bool a, Bool b) { True; return false + FALSE; }
//~ E3052 2:16-2:20 error: there is no type `Bool`
//~     label 2:16-2:20: no type
//~     help: did you mean `bool`?
//~ E3051 2:26-2:30 error: `True` is not declared
//~     label 2:26-2:30: not known
//~     help: did you mean `true`?
//~ E3051 2:47-2:52 error: `FALSE` is not declared
//~     label 2:47-2:52: not known
//~     help: did you mean `false`?
