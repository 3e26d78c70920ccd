struct p { int x, y; };
int f(int n)
{
    int a[2] = { 1, 2, 3 };
    int b[3] = 5;
    int c = { 1, 2 };
    struct p p = 3;
    struct p q = { 1, 2, 3 };
    char s[3] = "hello";
    int t[3] = "abc";
    int u[] = { };
    int v[];
    return a[0] + n;
}
//~ E3065 4:24-4:25 error: more initialisers than there are elements or members
//~     label 4:24-4:25: one too many
//~     help: remove it
//~ E3065 5:16-5:17 error: an array is no single value
//~     label 5:16-5:17: not in braces
//~     help: write the elements in braces: `{ 1, 2, 3 }`
//~ E3065 6:13-6:21 error: several values for one
//~     label 6:13-6:21: too many
//~     help: give it one value
//~ E3053 7:18-7:19 error: `int` given to a variable of the type `struct p`
//~     label 7:18-7:19: another type
//~     help: give a value of that type
//~ E3065 8:26-8:27 error: more initialisers than there are elements or members
//~     label 8:26-8:27: one too many
//~     help: remove it
//~ E3065 9:17-9:24 error: a text of 5 characters for an array of 3
//~     label 9:17-9:24: too long
//~     help: make the array longer
//~ E3065 10:16-10:21 error: an array is no single value
//~     label 10:16-10:21: not in braces
//~     help: write the elements in braces: `{ 1, 2, 3 }`
//~ E3060 12:9-12:10 error: the type `int []` is not complete
//~     label 12:9-12:10: needs a complete type
//~     help: write its length in the brackets
