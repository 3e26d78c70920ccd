int f(int n)
{
again:
    n--;
    if (n > 3) goto again;
    if (n < 0) goto done;
    n = 2;
done:
    return n;
}
//~ E3023 3:1-3:6 error: labels are not supported
//~     label 3:1-3:6: not supported
//~     help: use loops with `break` and `continue`, or a function that returns
//~ E3023 5:16-5:20 error: `goto` is not supported
//~     label 5:16-5:20: not supported
//~     help: use loops with `break` and `continue`, or a function that returns
//~ E3023 6:16-6:20 error: `goto` is not supported
//~     label 6:16-6:20: not supported
//~     help: use loops with `break` and `continue`, or a function that returns
//~ E3023 8:1-8:5 error: labels are not supported
//~     label 8:1-8:5: not supported
//~     help: use loops with `break` and `continue`, or a function that returns
