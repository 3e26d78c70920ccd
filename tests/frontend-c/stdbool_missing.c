bool f(int a)
{
    bool b = true;
    if (a == 1) b = false;
    return b;
}
//~ E3052 1:1-1:5 error: there is no type `bool`
//~     label 1:1-1:5: no type
//~     help: write `#include <stdbool.h>`
