int f(int n)
{
    long long long x = 1;
    short long y = 1;
    unsigned signed z = 2;
    int char w = 2;
    const c = 3;
    static s = 4;
    long float q = 2;
    return x + y + z + w;
}
//~ E3068 3:5-3:19 error: these words make no type
//~     label 3:5-3:19: no type
//~     help: write one type, as in `unsigned long` or `int16_t`
//~ E3068 4:5-4:15 error: these words make no type
//~     label 4:5-4:15: no type
//~     help: write one type, as in `unsigned long` or `int16_t`
//~ E3068 5:5-5:20 error: these words make no type
//~     label 5:5-5:20: no type
//~     help: write one type, as in `unsigned long` or `int16_t`
//~ E3068 6:5-6:13 error: these words make no type
//~     label 6:5-6:13: no type
//~     help: write one type, as in `unsigned long` or `int16_t`
//~ E3068 7:5-7:10 error: a declaration without a type
//~     label 7:5-7:10: names no type
//~     help: write the type, as in `const int` or `static int16_t`
//~ E3068 8:5-8:11 error: a declaration without a type
//~     label 8:5-8:11: names no type
//~     help: write the type, as in `const int` or `static int16_t`
//~ E3020 9:10-9:15 error: floating-point types are not supported
//~     label 9:10-9:15: not supported
//~     help: use fixed point: `int16_t` with 15 fraction bits, products `(a * b) >> 15`
