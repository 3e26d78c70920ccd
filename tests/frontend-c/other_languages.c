int f(int n) { if n == 3: return 1; elif (n) { return 2; } n = n // 2; return n if n else 2; }
//~ E3050 1:14-1:15 error: a bracket that is not closed
//~     label 1:14-1:15: opened here
//~     help: close it with `}`
//~ E3050 1:19-1:20 error: a `(` is missing behind `if`
//~     label 1:19-1:20: not in parentheses
//~     help: put what stands behind it into parentheses: `if (...)`
//~ E3050 1:37-1:41 error: `elif` is a word of another language
//~     label 1:37-1:41: not C
//~     help: write `else if`
