tyepdef int number;
enum colour { RED, GREEN };
int f(number n, enum color c) { enum color d = c; return n + d; }
//~ E3050 1:1-1:8 error: `tyepdef` is no word of the language
//~     label 1:1-1:8: not known
//~     help: did you mean `typedef`?
//~ E3060 3:17-3:27 error: the enumeration is not defined
//~     label 3:17-3:27: not known
//~     help: did you mean `enum colour`?
