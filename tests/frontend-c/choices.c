int f(int n)
{
    int a = n ? 1;
    int b = n ? : 2;
    int c = n 1 : 2;
    return a + b + c;
}
//~ E3050 3:18-3:19 error: the `:` of a choice is missing
//~     label 3:18-3:19: no second value
//~     label 3:15-3:16: the choice
//~     help: a choice has two values: `condition ? a : b`
//~ E3045 4:13-4:20 error: a condition without its middle is not supported
//~     label 4:13-4:20: not supported
//~     help: write the condition twice: `a ? a : b`
//~ E3050 5:15-5:16 error: this is not expected here
//~     label 5:15-5:16: unexpected
//~     help: a `,` or a `;` may be missing before this
