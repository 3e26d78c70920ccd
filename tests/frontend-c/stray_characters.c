int f(int a)
{
    int x = a @ 3;
    int y = a $ 3;
    int z$a = 2;
    int w = a \ 3;
    return x + y + w;
}
//~ E3001 3:15-3:16 error: unexpected character `@`
//~     label 3:15-3:16: starts no token
//~     help: remove it, or put it into a comment
//~ E3001 4:15-4:16 error: unexpected character `$`
//~     label 4:15-4:16: starts no token
//~     help: remove it, or put it into a comment
//~ E3001 5:9-5:12 error: the name `z$a` has a `$`
//~     label 5:9-5:12: `$` is not for names
//~     help: names are made of a to z, A to Z, 0 to 9 and _
//~ E3001 6:15-6:16 error: unexpected character `\`
//~     label 6:15-6:16: starts no token
//~     help: it joins two lines only where it is the last character of one
