int f(int n)
{
    int int = 3;
    int for = 2;
    int default;
    int switch = n;
    return n;
}
//~ E3050 3:13-3:14 error: a name is expected here
//~     label 3:13-3:14: no name
//~     help: write the name of what is declared or meant
//~ E3050 4:9-4:12 error: `for` is a word of the language and no name
//~     label 4:9-4:12: not a name
//~     help: choose another name
//~ E3050 5:9-5:16 error: `default` is a word of the language and no name
//~     label 5:9-5:16: not a name
//~     help: choose another name
//~ E3050 6:9-6:15 error: `switch` is a word of the language and no name
//~     label 6:9-6:15: not a name
//~     help: choose another name
