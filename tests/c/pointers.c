// run: pointers(n=10, a=int32[10]%1000, b=int32[10]%1000, rounds=3)
// run: pointers(n=10, a=int32[10]%1000, b=int32[10]%1000, rounds=4)
// run: pointers(n=1, a=int32[1]%1000, b=int32[1]%1000, rounds=1)
static void smooth(int n, const int *restrict from, int *restrict to)
{
    const int *end = from + n;
    int *p = to;
    for (const int *q = from; q != end; q++)
        *p++ = (q[0] + (q > from ? q[-1] : 0)) / 2;
}
static void minmax(const int *a, int n, int *low, int *high)
{
    *low = *high = a[0];
    while (--n > 0) {
        a++;
        if (*a < *low) *low = *a;
        if (*a > *high) *high = *a;
    }
}
long pointers(int n, int a[n], int b[n], int rounds)
{
    int *from = a, *to = b;
    for (int r = 0; r < rounds; r++) {
        smooth(n, from, to);
        int *t = from;
        from = to;
        to = t;
    }
    int low, high;
    minmax(from, n, &low, &high);
    int *none = 0;
    if (none == 0 && !none && from != to)
        from[n / 2] += 7;
    return (long)low * 100000 + high + (&a[n - 1] - a) + (from == a);
}
