int f(int a[4][4], int n)
{
    int b[2][2] = { 1, 2, 3, 4, 5 };
    a[1, 2] = 3;
    a[5][0] = 1;
    b[2][0] = 1;
    a[1] = 3;
    int s = a[0] + a[1][2];
    a(1, 2);
    return a[1][2][3] + b;
}
//~ E3065 3:33-3:34 error: more initialisers than there are elements or members
//~     label 3:33-3:34: one too many
//~     help: remove it
//~ E3066 4:5-4:12 error: an array is assigned
//~     label 4:5-4:12: not one value
//~     help: copy the elements in a loop, or with `memcpy`
//~ E3063 6:5-6:9 error: the index 2 is outside of the array, which has 2 elements
//~     label 6:5-6:9: outside
//~     help: use an index from 0 to 1
//~ E3066 7:5-7:9 error: an array is assigned
//~     label 7:5-7:9: not one value
//~     help: copy the elements in a loop, or with `memcpy`
//~ E3036 8:13-8:27 error: `int *` given to a variable of the type `int`
//~     label 8:13-8:27: a pointer
//~     help: a pointer is no number: name an element with `[0]` or `*`, or keep an index
//~ E3053 9:5-9:6 error: `a` is called and is a variable of the type `int [4] *`
//~     label 9:5-9:6: no function
//~     label 1:11-1:12: declared here
//~     help: elements are named with brackets, `a[i]`; a product is written with `*`
//~ E3053 10:12-10:19 error: `int` is no pointer
//~     label 10:12-10:19: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
