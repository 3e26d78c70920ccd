// run: macros(n=9, out=int32[9]=0)
#include <stdint.h>
#include <limits.h>
#define ADD(a, b) ((a) + (b))
#define TWICE(f, x) f(x, x)
#define CAT(a, b) a ## b
#define XCAT(a, b) CAT(a, b)
#define STR(x) #x
#define XSTR(x) STR(x)
#define COUNT(...) COUNT_(__VA_ARGS__, 4, 3, 2, 1, 0)
#define COUNT_(a, b, c, d, n, ...) n
#define LOG(format, ...) (sizeof(format) + COUNT(0, ## __VA_ARGS__))
#define SELF SELF

#define EMPTY
#define EVAL(x) x
#define CALL(f) EVAL(f EMPTY (3))
#define INC(x) ((x) + 1)
#if defined(INT_MAX) && INT_MAX == 2147483647 && !defined MISSING && (1 ? 2 : 0) == 2
#define OK 1
#elif 1
#define OK 2
#else
#define OK 3
#endif
#ifndef __NBCC__
#define COMPILER 0
#else
#define COMPILER 0
#endif
#undef MISSING
#if 0
this is 'not looked at
#error no
#endif
static int self_(void) { int SELF = 5; return SELF; }
int macros(int n, int *out)
{
    int x12 = 40 + \
        2;
    out[0] = TWICE(ADD, 4);
    out[1] = XCAT(x, XCAT(1, 2));
    out[2] = sizeof(XSTR(ADD(1, 2))) * 100 + sizeof(STR(ADD(1, "a\n")));
    out[3] = COUNT(a, b, c) * 10 + LOG("abc") + LOG("abc", 1);
    out[4] = CALL(INC) + OK + COMPILER;
    out[5] = __LINE__ + __STDC__ + (__STDC_VERSION__ == 201112L);
    out[6] = INC(INC(
        INC(1)));
    out[7] = INT_MAX + UCHAR_MAX;
    _Static_assert(sizeof(int) == 4, "an int");
    return n + self_();
}
