int f(int n)
{
    switch n {
    case 1: return 1;
    }
    switch (n) {
        int x = 2;
    case 1, 2: return 2;
    case "a": return 3;
    case 'ab': return 4;
    default return 5;
    }
    return 0;
}
//~ E3050 3:12-3:13 error: a `(` is missing behind `switch`
//~     label 3:12-3:13: not in parentheses
//~     help: put what stands behind it into parentheses: `switch (...)`
//~ E3050 8:11-8:11 error: a `:` is missing here
//~     label 8:11-8:11: behind this
//~     help: write `:`
//~ E3064 9:10-9:13 error: this is no constant expression
//~     label 9:10-9:13: not constant
//~     help: use literals, constants of enumerations, `sizeof` and macros
//~ E3050 11:12-11:12 error: a `:` is missing here
//~     label 11:12-11:12: behind this
//~     help: write `:`
