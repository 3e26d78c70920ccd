// run: matmul(n=5, a=int32[5,5]%1000, b=int32[5,5]%1000, c=int32[5,5]=0)
// run: matmul(n=1, a=int32[1,1], b=int32[1,1], c=int32[1,1]=0)
void matmul(int n, const int a[n][n], const int b[n][n], int c[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}
