Int f(int N) { Return n; If (n) n++; FOR (int i = 0; i < 3; i++) n++; }
//~ E3050 1:1-1:4 error: `Int` is no word of the language
//~     label 1:1-1:4: not known
//~     help: did you mean `int`?
//~ E3050 1:16-1:22 error: `Return` is no word of the language
//~     label 1:16-1:22: not known
//~     help: did you mean `return`?
//~ E3051 1:23-1:24 error: `n` is not declared
//~     label 1:23-1:24: not known
//~     help: declare it before
//~ E3050 1:26-1:28 error: `If` is no word of the language
//~     label 1:26-1:28: not known
//~     help: did you mean `if`?
//~ E3050 1:38-1:41 error: `FOR` is no word of the language
//~     label 1:38-1:41: not known
//~     help: did you mean `for`?
