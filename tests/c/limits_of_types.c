// run: limits_of_types(out=int64[24]=0)
#include <limits.h>
#include <stdint.h>
int limits_of_types(int64_t *out)
{
    int64_t *p = out;
    *p++ = CHAR_BIT; *p++ = SCHAR_MIN; *p++ = UCHAR_MAX; *p++ = CHAR_MIN; *p++ = SHRT_MAX; *p++ = USHRT_MAX;
    *p++ = INT_MIN; *p++ = UINT_MAX; *p++ = LONG_MAX; *p++ = LLONG_MIN; *p++ = (int64_t)ULONG_MAX;
    *p++ = INT8_MIN; *p++ = UINT16_MAX; *p++ = INT64_MIN; *p++ = SIZE_MAX == UINT64_MAX; *p++ = INT64_C(5) << 40;
    *p++ = sizeof(int_fast16_t) * 10 + sizeof(int_least16_t); *p++ = sizeof(intmax_t); *p++ = UINT32_C(1) - 2 > 0;
#if UINT_MAX > 0 && -1 > 0u && (INT_MAX + 1 > INT_MAX) && '\377' < 0
    *p++ = 77;
#endif
    return p - out;
}
