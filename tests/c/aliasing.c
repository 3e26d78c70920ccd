// run: aliasing(n=16, a=int32[16]%1000, b=int32[16]%1000, which=0)
// run: aliasing(n=16, a=int32[16]%1000, b=int32[16]%1000, which=1)
// run: aliasing(n=16, a=int32[16]%1000, b=int32[16]%1000, which=2)
static void spread(int *to, const int *from, int n) { for (int i = 0; i < n; i++) to[i] = from[i] * 3 + (i ? to[i - 1] : 0); }
static int *choose(int which, int *a, int *b, int *own) { switch (which) { case 0: return a; case 1: return b + 2; default: return own; } }
int aliasing(int n, int a[n], int b[n], int which)
{
    int own[16] = { 5, 6, 7 }, v = 3, w = 4;
    int *p = choose(which, a, b, own), *q = which ? &v : &w;
    spread(a + 1, a, n / 2);
    spread(b, b + 1, n / 2);
    for (int k = 0; k < 6; k++) {
        p[k] += b[k] + *q;
        *q += a[k] & 7;
        int *t = k % 3 ? p : own;
        t[k] ^= k;
        if (k == 3) p = which == 2 ? a : own;
    }
    return v * 1000 + w + own[2] + own[5] + (p == own) + (q == &v) * 2;
}
