int f(int n)
{
    int a[4] = { 0 }, b[4];
    b = a;
    a++;
    a = n;
    &a = n;
    return b[0];
}
//~ E3066 4:5-4:6 error: an array is assigned
//~     label 4:5-4:6: not one value
//~     help: copy the elements in a loop, or with `memcpy`
//~ E3066 5:5-5:6 error: an array is assigned
//~     label 5:5-5:6: not one value
//~     help: copy the elements in a loop, or with `memcpy`
//~ E3066 6:5-6:6 error: an array is assigned
//~     label 6:5-6:6: not one value
//~     help: copy the elements in a loop, or with `memcpy`
//~ E3066 7:5-7:7 error: this is no place that holds a value
//~     label 7:5-7:7: a value
//~     help: write a variable, an element or a member
