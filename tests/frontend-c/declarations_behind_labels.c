int f(int n)
{
    switch (n) {
    case 0:
        int x = 3;
        return x;
    case 1: case 2: {
        int y = 2;
    default:
        return n;
    }
}
//~ E3050 2:1-2:2 error: a bracket that is not closed
//~     label 2:1-2:2: opened here
//~     help: close it with `}`
//~ E3050 5:9-5:12 error: a declaration is no statement
//~     label 5:9-5:12: a declaration
//~     help: put braces around what stands behind the label, or a `;`
