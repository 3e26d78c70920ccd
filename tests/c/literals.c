// run: literals(n=2, out=int64[14]=0)
typedef struct { int x, y; } point;
static int area(point a, point b) { return (b.x - a.x) * (b.y - a.y); }
static int sum(const int *v, int n) { int s = 0; for (int i = 0; i < n; i++) s += v[i]; return s; }
int literals(int n, long out[14])
{
    int k = 0;
    out[k++] = area((point){ 1, 2 }, (point){ .y = n + 7, .x = 5 });
    out[k++] = sum((int[]){ 1, n, n * n, 8 }, 4);
    point *p = &(point){ n, 3 };
    p->x *= 4;
    out[k++] = p->x + p->y;
    out[k++] = ((int[3]){ 7, 8 })[n - 1] + 2[(int[]){ 4, 5, 6 }];
    out[k++] = sizeof((char[]){ "four" }) + sizeof "a" "bc" + sizeof(point[3]) + _Alignof(long);
    out[k++] = 0x7fffffff + 1L + 0xffffffff + 0777 + 0b1010;
    out[k++] = -2147483648 / 2 + 4294967296 % 7 + 10u - 11 + 0xffffffffffffffff / 3;
    out[k++] = '\t' * 'z' + '\0' + '\\' + '\'' + '"' + '\177' + '\xfe' + '\v';
    for (int i = 0; i < 3; i++) {
        int fresh[2] = { i };
        fresh[1] += fresh[0] * 2 + 1;
        out[k + i] = fresh[1];
    }
    k += 3;
    out[k++] = (char)300 + (unsigned char)-1 + (short)70000 + (_Bool)256 + (unsigned)-1 / 2;
    out[k++] = 1 ? -1 : 0u;
    return k;
}
