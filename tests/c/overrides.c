// run: overrides(n=3, out=int32[12]=0)
struct pair { int x[2]; int z; };
void overrides(int n, int out[12])
{
    int a[2][2] = { [0] = { n, 2 }, [0] = { 3 } };
    struct pair s = { .x = { 1, 2 }, .x = { 3 } };
    struct pair kept = { .x = { 1, 2 }, .x[0] = n };
    struct pair again[2] = { [1] = { { n, 2 }, 5 }, [0] = { { 1 } }, [1].x = { [1] = 6 } };
    static const struct pair t[1] = { [0] = { { 1, 2 }, 5 }, [0] = { { 7 } } };
    static const char text[1][4] = { [0] = "abc", [0] = "x" };
    out[0] = a[0][0];
    out[1] = a[0][1];
    out[2] = s.x[0];
    out[3] = s.x[1];
    out[4] = kept.x[0];
    out[5] = kept.x[1];
    out[6] = again[1].x[0];
    out[7] = again[1].x[1];
    out[8] = again[1].z;
    out[9] = t[0].x[1];
    out[10] = t[0].z;
    out[11] = text[0][1];
}
