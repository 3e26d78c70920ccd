int f(int n)
{
    whiel (n > 3) n--;
    whlie (n > 2) { n--; }
    fi (n) n = 2;
    swtich (n) { case 1: return 2; }
    brek;
    return n;
}
//~ E3050 3:5-3:10 error: `whiel` is no word of the language
//~     label 3:5-3:10: not known
//~     help: did you mean `while`?
//~ E3050 4:5-4:10 error: `whlie` is no word of the language
//~     label 4:5-4:10: not known
//~     help: did you mean `while`?
//~ E3050 5:5-5:7 error: `fi` is no word of the language
//~     label 5:5-5:7: not known
//~     help: did you mean `if`?
//~ E3050 6:5-6:11 error: `swtich` is no word of the language
//~     label 6:5-6:11: not known
//~     help: did you mean `switch`?
//~ E3051 7:5-7:9 error: `brek` is not declared
//~     label 7:5-7:9: not known
//~     help: did you mean `break`?
