extern int a = 3;
static extern int b;
typedef static int t;
register int c;
auto int d;
int f(register int n, static int m) { return n + m; }
//~ E3068 2:8-2:14 error: two words for how long a variable lives
//~     label 2:8-2:14: the second
//~     help: leave one out: `static`, `extern`, `typedef`, `register`, `auto`
//~ E3068 3:9-3:15 error: two words for how long a variable lives
//~     label 3:9-3:15: the second
//~     help: leave one out: `static`, `extern`, `typedef`, `register`, `auto`
