#include <stdint.h>
uint16_t f(uint16_t a, uin16_t b, unit8_t c, int32 d, size_T e) { return a; }
//~ E3052 2:24-2:31 error: there is no type `uin16_t`
//~     label 2:24-2:31: no type
//~     help: did you mean `uint16_t`?
//~ E3052 2:35-2:42 error: there is no type `unit8_t`
//~     label 2:35-2:42: no type
//~     help: did you mean `uint8_t`?
//~ E3052 2:46-2:51 error: there is no type `int32`
//~     label 2:46-2:51: no type
//~     help: did you mean `int32_t`?
//~ E3052 2:55-2:61 error: there is no type `size_T`
//~     label 2:55-2:61: no type
//~     help: did you mean `size_t`?
