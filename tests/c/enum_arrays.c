// run: enum_arrays(n=4, in=int32[4]%2, out=int32[4]=0)
enum light { RED, GREEN = 5 };
int enum_arrays(int n, const enum light in[n], enum light out[n])
{
    int greens = 0;
    for (int i = 0; i < n; i++) {
        greens += in[i] == GREEN;
        out[i] = in[i] ? -1 : GREEN;
    }
    return greens + (out[0] < 0);
}
