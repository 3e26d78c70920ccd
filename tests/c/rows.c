// run: rows(h=4, w=5, m=int32[4,5]%100, sums=int32[4]=0, t=int32[5,4]=0)
static int dot(const int *a, const int *b, int n) { int s = 0; while (n-- > 0) s += *a++ * *b++; return s; }
static void fill(int *row, int n, int v) { for (int i = 0; i < n; ++i) row[i] = v + i; }
static void transpose(int h, int w, const int a[h][w], int b[w][h]) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[j][i] = a[i][j]; }
int rows(int h, int w, int m[h][w], int sums[h], int t[w][h])
{
    for (int i = 0; i < h; i++) sums[i] = dot(m[i], m[h - 1 - i], w);
    fill(m[1], w, 100);
    fill(&m[2][1], w - 1, 200);
    transpose(h, w, m, t);
    return m[0][w + 1] + *(*(m + 1) + 2) + (int)sizeof m[0] + t[w - 1][h - 1];
}
