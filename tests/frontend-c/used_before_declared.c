int f(int n)
{
    total = 0;
    int total = n;
    return total + later;
}
int later;
//~ E3051 3:5-3:10 error: `total` is used before its declaration
//~     label 3:5-3:10: not known yet
//~     label 4:9-4:14: declared here
//~     help: move the declaration before this; of a function, write a prototype before
//~ E3051 5:20-5:25 error: `later` is used before its declaration
//~     label 5:20-5:25: not known yet
//~     label 7:5-7:10: declared here
//~     help: move the declaration before this; of a function, write a prototype before
