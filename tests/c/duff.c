// run: duff(n=0, a=int32[16], b=int32[16]=0)
// run: duff(n=1, a=int32[16], b=int32[16]=0)
// run: duff(n=13, a=int32[16], b=int32[16]=0)
int duff(int n, const int a[16], int b[16])
{
    int i = 0, rounds = (n + 3) / 4;
    if (n <= 0) return 0;
    switch (n % 4) {
    case 0: do { b[i] = a[i]; i++;
    case 3:      b[i] = a[i]; i++;
    case 2:      b[i] = a[i]; i++;
    case 1:      b[i] = a[i]; i++;
            } while (--rounds > 0);
    }
    return i;
}
