int f(int n)
{
    for (int i = 0; i < len; i++) {
        total += data[i];
        total = total + data[i] * len;
    }
    return total;
}
//~ E3051 3:25-3:28 error: `len` is not declared
//~     label 3:25-3:28: not known
//~     help: declare it before
//~ E3051 4:9-4:14 error: `total` is not declared
//~     label 4:9-4:14: not known
//~     help: declare it before
//~ E3051 4:18-4:22 error: `data` is not declared
//~     label 4:18-4:22: not known
//~     help: declare it before
