int f(int n)
{
    switch (n) {
    case 1: n = 2; break
    case 2; n = 3; break;
    case n: break;
    case 1: break;
    defualt: n = 3;
    }
    return n;
}
//~ E3050 4:25-4:25 error: a `;` is missing here
//~     label 4:25-4:25: behind this
//~     help: write `;`
//~ E3050 5:11-5:12 error: a label ends in `:`
//~     label 5:11-5:12: not in this
//~     help: write `:`
//~ E3064 6:10-6:11 error: this is no constant expression
//~     label 6:10-6:11: not constant
//~     help: use literals, constants of enumerations, `sizeof` and macros
//~ E3057 7:10-7:11 error: the case 1 is there twice
//~     label 7:10-7:11: again
//~     label 4:10-4:11: first here
//~     help: remove one of them
//~ E3050 8:5-8:12 error: `defualt` is no word of the language
//~     label 8:5-8:12: a label
//~     help: did you mean `default`?
