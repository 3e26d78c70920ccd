// run: queens(n=6)
// run: queens(n=1)
int queens(int n)
{
    int at[12], row = 0, found = 0;
    at[0] = -1;
    while (row >= 0) {
        int ok = 0;
        while (!ok && ++at[row] < n) {
            ok = 1;
            for (int r = 0; r < row && ok; r++) {
                int d = at[row] - at[r];
                if (d == 0 || d == row - r || d == r - row) ok = 0;
            }
        }
        if (!ok) { row--; continue; }
        if (row == n - 1) { found++; continue; }
        at[++row] = -1;
    }
    return found;
}
