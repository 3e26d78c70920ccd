// run: edit(n=9, m=7, a=int8[9]%3, b=int8[7]%3)
// run: edit(n=1, m=7, a=int8[1]%3, b=int8[7]%3)
static int min3(int a, int b, int c) { int m = a; if (b < m) m = b; if (c < m) m = c; return m; }
int edit(int n, int m, const signed char a[n], const signed char b[m])
{
    int rows[2][65], *last = rows[0], *row = rows[1];
    for (int j = 0; j <= m; j++) last[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++)
            row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
        int *t = last; last = row; row = t;
    }
    return last[m];
}
