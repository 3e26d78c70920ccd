int x;
x = 3;
for (int i = 0; i < 3; i++) x++;
return x;
if (x) x = 2;
int f(int n) { return n + x; }
//~ E3050 2:1-2:2 error: a statement outside of functions
//~     label 2:1-2:2: no type
//~     help: put it into a function; a declaration begins with a type
