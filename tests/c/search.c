// run: search(n=40, m=3, text=uint8[40]%1, pattern=uint8[3]%1, at=int32[40]=0)
// run: search(n=2, m=3, text=uint8[2]%1, pattern=uint8[3]%1, at=int32[40]=0)
int search(int n, int m, const unsigned char text[n], const unsigned char pattern[m], int at[40])
{
    int fail[32], found = 0;
    fail[0] = 0;
    for (int i = 1, k = 0; i < m; i++) {
        while (k > 0 && pattern[i] != pattern[k]) k = fail[k - 1];
        fail[i] = k += pattern[i] == pattern[k];
    }
    for (int i = 0, k = 0; i < n; i++) {
        while (k > 0 && text[i] != pattern[k]) k = fail[k - 1];
        if (text[i] == pattern[k]) k++;
        if (k == m) { at[found++] = i - m + 1; k = fail[k - 1]; }
    }
    return found;
}
