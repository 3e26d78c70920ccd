int f(const int *p, const int n)
{
    *p = 3;
    n = 4;
    p[2]++;
    const int k = 3;
    k += 1;
    return n;
}
//~ E3055 3:5-3:7 error: this is `const`
//~     label 3:5-3:7: is written here
//~     help: leave out the `const`, or write another variable
//~ E3055 4:5-4:6 error: this is `const`
//~     label 4:5-4:6: is written here
//~     help: leave out the `const`, or write another variable
//~ E3055 5:5-5:9 error: this is `const`
//~     label 5:5-5:9: is written here
//~     help: leave out the `const`, or write another variable
//~ E3055 7:5-7:6 error: this is `const`
//~     label 7:5-7:6: is written here
//~     help: leave out the `const`, or write another variable
