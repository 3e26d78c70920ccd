int f(int n)
{
    int a[4];
    int b[-1];
    int c[0];
    int d[2.5];
    int e[n];
    for (int i = 0; i <= 4; i++) a[i] = i;
    a[4] = 1;
    return a[-1];
}
//~ E3061 4:11-4:13 error: an array of -1 elements
//~     label 4:11-4:13: not positive
//~     help: give it at least one element
//~ E3061 5:11-5:12 error: an array of 0 elements
//~     label 5:11-5:12: not positive
//~     help: give it at least one element
//~ E3020 6:11-6:14 error: the floating-point number `2.5` is not supported
//~     label 6:11-6:14: this literal
//~     help: scale it to an integer: 0.5 with 15 fraction bits is 16384
//~ E3026 7:11-7:12 error: variable-length arrays are not supported
//~     label 7:11-7:12: not constant
//~     help: give it a constant length, the largest that is needed
//~ E3063 9:5-9:9 error: the index 4 is outside of the array, which has 4 elements
//~     label 9:5-9:9: outside
//~     help: use an index from 0 to 3
//~ E3063 10:12-10:17 error: the index -1 is outside of the array, which has 4 elements
//~     label 10:12-10:17: outside
//~     help: use an index from 0 to 3
