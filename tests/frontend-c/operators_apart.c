int f(int n)
{
    n +== 3;
    n =* 2;
    n + = 3;
    n =- 1;
    n ++ 3;
    n+++++n;
    n => 2;
    return n;
}
//~ E3050 3:9-3:10 error: an expression is expected here
//~     label 3:9-3:10: no value
//~     help: write the value, or leave out the operator before it
//~ E3053 4:10-4:11 error: `int` is no pointer
//~     label 4:10-4:11: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
//~ E3050 5:7-5:10 error: `+ =` are two operators
//~     label 5:7-5:10: not one
//~     help: write `+=`, without a blank
//~ E3050 7:10-7:11 error: this is not expected here
//~     label 7:10-7:11: unexpected
//~     help: a `,` or a `;` may be missing before this
//~ E3066 8:5-8:8 error: this is no place that holds a value
//~     label 8:5-8:8: a value
//~     help: write a variable, an element or a member
//~ E3050 9:7-9:9 error: there is no operator `=>`
//~     label 9:7-9:9: no operator
//~     help: write `>=`
