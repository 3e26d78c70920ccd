int f(int größe)
{
    int weiß = größe;
    return größe + weiß;
}
//~ E3001 1:11-1:16 error: the name `größe` has letters outside ASCII
//~     label 1:11-1:16: `ö` is not for names
//~     help: names are made of a to z, A to Z, 0 to 9 and _
//~ E3001 3:9-3:13 error: the name `weiß` has letters outside ASCII
//~     label 3:9-3:13: `ß` is not for names
//~     help: names are made of a to z, A to Z, 0 to 9 and _
