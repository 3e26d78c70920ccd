typedef unit16_t word;
word f(word a) { word b = a; return b; }
int g(int n) { word x = n; return x; }
//~ E3052 1:9-1:17 error: there is no type `unit16_t`
//~     label 1:9-1:17: no type
//~     help: did you mean `uint16_t`?
