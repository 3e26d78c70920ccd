int f(int n)
{
    int s = 0;
    if (n > 3) {
        s += n;
    }
    }
    return s;
}
int g(int n) { return n + q; }
//~ E3050 9:1-9:2 error: a bracket without its partner
//~     label 9:1-9:2: closes nothing that is open
//~     label 7:5-7:6: ends the function already
//~     help: remove one `}`, or open one more with `{`
//~ E3051 10:27-10:28 error: `q` is not declared
//~     label 10:27-10:28: not known
//~     help: declare it before
