#if FOO == 
#endif
#if "abc"
#endif
#if 1.5
#endif
#if (1
#endif
#if defined
#endif
#if 1 / 0
#endif
#if foo(3)
#endif
int f(int n) { return n + q; }
//~ E3004 1:2-1:4 error: a value is missing
//~     label 1:2-1:4: in this condition
//~     help: a condition is an expression of integers and names
//~ E3004 3:5-3:10 error: this is no integer
//~     label 3:5-3:10: in this condition
//~     help: a condition is an expression of integers and names
//~ E3004 5:5-5:8 error: this is no integer
//~     label 5:5-5:8: in this condition
//~     help: a condition is an expression of integers and names
//~ E3004 7:2-7:4 error: a `)` is missing
//~     label 7:2-7:4: in this condition
//~     help: a condition is an expression of integers and names
//~ E3004 9:5-9:12 error: `defined` without a name
//~     label 9:5-9:12: asks for a name
//~     help: write `defined NAME` or `defined(NAME)`
//~ E3004 11:2-11:4 error: a division by zero
//~     label 11:2-11:4: in this condition
//~     help: a condition is an expression of integers and names
//~ E3004 13:8-13:9 error: there is more behind the condition
//~     label 13:8-13:9: in this condition
//~     help: a condition is an expression of integers and names
