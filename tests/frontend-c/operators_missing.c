int f(int a, int b)
{
    int c = a b;
    int d = 2a;
    int e = 2(a + b);
    int g = (a)(b);
    int h = a + * b;
    int i = a b + 3;
    return c d;
}
//~ E3050 3:15-3:16 error: this is not expected here
//~     label 3:15-3:16: unexpected
//~     help: a `,` or a `;` may be missing before this
//~ E3003 4:13-4:15 error: `2a` is no number
//~     label 4:13-4:15: this literal
//~     help: write 10, 0x1f, 017 or 0b101, and u, l or ll behind it
//~ E3053 5:13-5:14 error: a value of the type `int` is called
//~     label 5:13-5:14: no function
//~     help: a product is written with `*`; a function is called by its name
//~ E3053 6:14-6:15 error: `a` is called and is a variable of the type `int`
//~     label 6:14-6:15: no function
//~     label 1:11-1:12: declared here
//~     help: a product is written with `*`; else choose the name of a function
//~ E3053 7:19-7:20 error: `int` is no pointer
//~     label 7:19-7:20: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
//~ E3050 8:15-8:16 error: this is not expected here
//~     label 8:15-8:16: unexpected
//~     help: a `,` or a `;` may be missing before this
//~ E3050 9:14-9:15 error: this is not expected here
//~     label 9:14-9:15: unexpected
//~     help: a `,` or a `;` may be missing before this
