// run: division(n=16, a=int32[16], b=int32[16]%3, q=int32[16]=0, r=int32[16]=0)
// run: division(n=4, a=int32[4]%9, b=int32[4]%1, q=int32[4]=0, r=int32[4]=0)
void division(int n, const int *a, const int b[n], int q[n], int r[n])
{
    for (int i = 0; i < n; i++) {
        q[i] = b[i] ? a[i] / b[i] : 0;
        r[i] = b[i] ? a[i] % b[i] : 0;
    }
}
