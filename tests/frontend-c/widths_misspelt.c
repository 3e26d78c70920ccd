#include <stdint.h>
int16 f(int16_t a, uint_16 b, int_32 c) { uint8 x = a; u32 y = b; return x; }
//~ E3052 2:1-2:6 error: there is no type `int16`
//~     label 2:1-2:6: no type
//~     help: did you mean `int16_t`?
//~ E3052 2:20-2:27 error: there is no type `uint_16`
//~     label 2:20-2:27: no type
//~     help: did you mean `uint16_t`?
//~ E3052 2:31-2:37 error: there is no type `int_32`
//~     label 2:31-2:37: no type
//~     help: did you mean `int32_t`?
//~ E3052 2:43-2:48 error: there is no type `uint8`
//~     label 2:43-2:48: no type
//~     help: did you mean `uint8_t`?
//~ E3052 2:56-2:59 error: there is no type `u32`
//~     label 2:56-2:59: no type
//~     help: did you mean `uint32_t`?
