int f(int n)
{
    int x = n – 1;
    char *s = “abc”;
    return x;
}
//~ E3001 3:15-3:16 error: the typographic character `–`
//~     label 3:15-3:16: starts no token
//~     help: write `-`
//~ E3001 4:15-4:16 error: the typographic character `“`
//~     label 4:15-4:16: starts no token
//~     help: write `"`
