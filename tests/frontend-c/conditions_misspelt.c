#ifdf FOO
int x;
#endif
#define FOO
#ifdef FOO
int f(int n) { return n; }
#elsif BAR
#endif
//~ E3004 1:2-1:6 error: there is no `#ifdf`
//~     label 1:2-1:6: no directive
//~     help: did you mean `#ifdef`?
//~ E3004 7:2-7:7 error: there is no `#elsif`
//~     label 7:2-7:7: no directive
//~     help: did you mean `#elif`?
