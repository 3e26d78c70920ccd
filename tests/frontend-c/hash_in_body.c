int f(int n)
{
    int x = #n;
    return x ## n;
}
//~ E3001 3:13-3:14 error: unexpected `#`
//~     label 3:13-3:14: belongs to the preprocessor
//~     help: remove it, or put it at the start of a line
//~ E3001 4:14-4:16 error: unexpected `##`
//~     label 4:14-4:16: belongs to the preprocessor
//~     help: remove it, or put it at the start of a line
