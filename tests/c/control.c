// run: control(n=20, a=int32[20]%12, out=int32[20]=0)
static int kind(int v)
{
    switch (v) {
    case -3: case 3:
        v += 100;
    case 0:
        v += 10;
        break;
    case 1: return 1;
    case 2: { int w = v * v; return w; }
    default:
        if (v < 0) break;
        v = -v;
    case 7:
        ;
    }
    return v;
}
static int far(long v)
{
    switch (v) {
    case 1000000: return 1;
    case -5L: return 2;
    case 11: return 3;
    }
    return 0;
}
int control(int n, const int a[n], int out[n])
{
    int i = 0, total = 0;
    do {
        if (a[i] == 5) continue;
        out[i] = kind(a[i]) + far(a[i]);
        for (int j = 0;; j++) {
            if (j > a[i] && j > 2) break;
            if (j & 1) continue;
            total += j;
        }
        int k = 3;
        while (k--)
            total ^= k << i % 8;
    } while (++i < n);
    total += (i > 3 && a[i - 1] > 0) || (a[0] < 0 && i) ? 1 : 2;
    return total, total + 1;
}
