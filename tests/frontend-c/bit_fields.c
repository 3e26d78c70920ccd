struct s { unsigned a : 3; unsigned b : 5; int : 0; };
int f(int n)
{
    struct s x = { 1, 2 };
    x.a = n;
    return x.a + x.b;
}
//~ E3022 1:23-1:26 error: bit-fields are not supported
//~     label 1:23-1:26: not supported
//~     help: give it a type of its own, or use shifts and masks
//~ E3022 1:39-1:42 error: bit-fields are not supported
//~     label 1:39-1:42: not supported
//~     help: give it a type of its own, or use shifts and masks
//~ E3022 1:48-1:51 error: bit-fields are not supported
//~     label 1:48-1:51: not supported
//~     help: give it a type of its own, or use shifts and masks
