int f(int n) { int a == 3; int b := 4; int c <- 5; int d : 4; let e = 3; var g = 4; return a; }
//~ E3050 1:22-1:24 error: `==` gives a variable no value
//~     label 1:22-1:24: not `=`
//~     help: write `=`
//~ E3050 1:34-1:35 error: `:=` gives a variable no value
//~     label 1:34-1:35: not `=`
//~     help: write `=`
//~ E3050 1:46-1:47 error: this is not expected here
//~     label 1:46-1:47: unexpected
//~     help: leave it out, or complete what stands before
//~ E3050 1:58-1:59 error: this is not expected here
//~     label 1:58-1:59: unexpected
//~     help: leave it out, or complete what stands before
//~ E3050 1:63-1:66 error: `let` is a word of another language
//~     label 1:63-1:66: not C
//~     help: write it in C11
//~ E3050 1:74-1:77 error: `var` is a word of another language
//~     label 1:74-1:77: not C
//~     help: write it in C11
