#ifdef A
#else
#else
#endif
#elif
#ifndef A B
#endif
int f(int n) { return n + q; }
//~ E3004 3:2-3:6 error: `#else` behind the `#else`
//~     label 3:2-3:6: of a condition that has its last part
//~     label 1:2-1:7: the condition
//~     help: end the condition with `#endif` before
//~ E3004 5:2-5:6 error: `#elif` without `#if`
//~     label 5:2-5:6: belongs to no condition
//~     help: begin the condition with `#if`
//~ E3051 8:27-8:28 error: `q` is not declared
//~     label 8:27-8:28: not known
//~     help: declare it before
