int f(int n)
{
    void v;
    void w[4];
    return n;
}
//~ E3060 3:10-3:11 error: an object of the type `void`, which has no values
//~     label 3:10-3:11: no value
//~     help: give it a type with values, as `int`
//~ E3060 4:11-4:14 error: an object of the type `void`, which has no values
//~     label 4:11-4:14: no value
//~     help: give it a type with values, as `int`
