// run: paths(n=5, d=int32[5,5]%40)
int paths(int n, int d[n][n])
{
    int changed = 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (d[i][j] <= 0) d[i][j] = i == j ? 0 : 1000;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            if (d[i][k] >= 1000) continue;
            for (int j = 0; j < n; j++)
                if (d[i][k] + d[k][j] < d[i][j]) { d[i][j] = d[i][k] + d[k][j]; changed++; }
        }
    return changed;
}
