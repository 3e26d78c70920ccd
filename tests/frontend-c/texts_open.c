int f(int n)
{
    char *s = "abc;
    char c = 'ab;
    char d = '';
    return n;
}
//~ E3003 3:15-3:20 error: a text that does not end
//~     label 3:15-3:20: starts here
//~     help: close it with `"` on the same line
//~ E3003 4:14-4:18 error: a character that does not end
//~     label 4:14-4:18: starts here
//~     help: close it with `'` on the same line
//~ E3003 5:14-5:16 error: '' is not one character
//~     label 5:14-5:16: this literal
//~     help: a character constant has one character, a text stands in double quotes
