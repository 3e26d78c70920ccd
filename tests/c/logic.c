// run: logic(n=10, a=int32[10]%3, out=int32[10]=0)
static int calls;
static int touch(int v) { calls = calls * 3 + v; return v; }
int logic(int n, const int a[n], int out[n])
{
    for (int i = 0; i < n; i++) {
        int v = a[i];
        out[i] = (touch(v) && touch(v + 1)) + 2 * (touch(v) || touch(v - 1)) + 4 * !(v > 0 ? v : touch(2));
        if (v && (v != 2 || touch(i)) && !(v == 1 && touch(1))) out[i] += 100;
        out[i] += v == 0 ? 1 : v == 1 ? 2 : v < 0 ? (v < -1 ? 3 : 4) : 5;
        int w = (calls++, v) + (v ? (calls += 2, 1) : 0);
        out[i] ^= w << 8;
    }
    return calls;
}
