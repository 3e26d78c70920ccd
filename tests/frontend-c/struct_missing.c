struct pair { int a, b; };
pair make(int n) { pair p = { n, n }; return p; }
int f(int n) { pair q = make(n); return q.a; }
//~ E3052 2:1-2:5 error: there is no type `pair`
//~     label 2:1-2:5: no type
//~     help: write `struct pair`: it is a tag
