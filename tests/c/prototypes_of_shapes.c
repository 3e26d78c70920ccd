// run: prototypes_of_shapes(n=3, m=4, a=int32[3,4]%50, b=int32[4,3]%50, c=int32[3,3]=0)
static int trace(int n, const int a[n][n]);
static int corner(int n, int [n][n]), corner(int, int [*][*]), corner(int, int (*)[*]);
static int sum(int n, int m, const int (*a)[m]);
static long flat(int n, const int a[const], int m, int step), total(int n, int m, const int a[n][2 * m - m][sizeof(int)]);
static int fixed(const int a[2][3]);
static int scaled(int n, int m, const int a[static n][m], int by);
void product(int, int n, int m, const int a[*][n], const int b[n][*], int c[const *][m]);
static int local(int n, int m, const int a[n][m]);
int prototypes_of_shapes(int n, int m, const int a[n][m], const int b[m][n], int c[n][n]);
int prototypes_of_shapes(int n, int m, const int a[n][m], const int b[m][n], int c[n][n])
{
    static const int six[2][3] = {{1, 2, 3}, {4, 5, 6}};
    static const int cube[2][3][4] = {{{1, 2}, {3}}, {{4, 5, 6}, {0}, {7, 8}}};
    int sum(int k, int l, const int (*)[l]);
    product(n, m, n, a, b, c);
    int s = trace(n, c) + 3 * corner(n, c) + 5 * sum(n, m, a) + 7 * sum(m, n, b);
    s += 11 * (int)flat(n, a[1], m, 1) + (int)total(2, 3, cube) + fixed(six) + scaled(n - 1, m, a + 1, 3);
    return s + local(m, n, b);
}
static int trace(int n, const int a[n][n]) { int s = 0; for (int i = 0; i < n; i++) s += a[i][i]; return s; }
static int corner(int n, int a[n][n]) { return a[0][n - 1] - a[n - 1][0]; }
static int sum(int n, int m, const int (*a)[m])
{
    int s = 0;
    for (; n > 0; n--, a++)
        for (int j = 0; j < m; j++) s = s * 3 + (*a)[j];
    return s;
}
static long flat(int n, const int a[], int m, int step) { long s = n; for (int i = 0; i < m; i += step) s += a[i]; return s; }
static long total(int n, int m, const int a[n][m][4])
{
    long s = 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 4; k++) s = 2 * s + a[i][j][k];
    return s;
}
static int fixed(const int a[2][3]) { return a[1][2] * 10 + a[0][1]; }
static int scaled(int n, int m, const int a[n][m], int by) { return by * a[n - 1][m - 1] + (int)sizeof a[0]; }
void product(int l, int n, int m, const int a[l][n], const int b[n][m], int c[l][m])
{
    for (int i = 0; i < l; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
}
static int local(int n, int m, const int a[n][m])
{
    int sum(int n, int m, const int a[n][m]);
    return sum(n, m, a) & 0xff;
}
