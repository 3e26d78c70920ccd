int f(int n)
{
    int g(int x) { return x + n; }
    auto int h(int y);
    return g(n);
}
//~ E3045 3:5-3:35 error: functions in functions are not supported
//~     label 3:5-3:35: not supported
//~     help: define it before, outside
