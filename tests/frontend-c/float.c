float f(float x, double y)
{
    float z = x * 0.5f;
    return z + y;
}
//~ E3020 1:1-1:6 error: floating-point types are not supported
//~     label 1:1-1:6: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3020 1:9-1:14 error: floating-point types are not supported
//~     label 1:9-1:14: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3020 1:18-1:24 error: floating-point types are not supported
//~     label 1:18-1:24: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3020 3:5-3:10 error: floating-point types are not supported
//~     label 3:5-3:10: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
//~ E3020 3:19-3:23 error: the floating-point number `0.5f` is not supported
//~     label 3:19-3:23: this literal
//~     help: scale it to an integer: 0.5 with 15 fraction bits is 16384
