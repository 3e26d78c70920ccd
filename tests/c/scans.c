// run: scans(n=11, x=int32[11]%100, h=int32[11]=0)
// run: scans(n=0, x=int32[0]%100, h=int32[0]=0)
static inline int max(int a, int b) { return a > b ? a : b; }
static int best;
int scans(int n, int *x, int h[n])
{
    int run = 0;
    best = -1000;
    for (int i = n - 1; i >= 0; --i) {
        run = max(run + x[i], 0);
        best = max(best, run);
        h[i] = run;
    }
    for (int i = 1, j = n - 1; i < j; i += 2, j--) { int t = x[i]; x[i] = x[j]; x[j] = t; }
    for (int i = 1; i < n; i++) {
        int v = h[i], j = i - 1;
        for (; j >= 0 && h[j] > v; j--) h[j + 1] = h[j];
        h[j + 1] = v;
    }
    return best;
}
