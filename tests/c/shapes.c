// run: shapes(h=3, w=4, x=int32[3,4,2]%50, y=int32[6,4]%50, z=int32[12]=0)
#include <stddef.h>
static int row(const int *r, int w) { int s = 0; for (int i = 0; i < w; i++) s += r[i]; return s; }
static int plane(int h, int w, const int p[h][w]) { int s = 0; for (int i = 0; i < h; i++) s = 3 * s + row(p[i], w); return s; }
static long whole(const int (*p)[2], int n) { long s = 0; for (; n > 0; n--, p++) s += (*p)[0] - 2 * p[0][1]; return s; }
long shapes(size_t h, int w, const int x[h][w][2], const int y[2 * h][w], int z[h * w])
{
    for (size_t i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            z[i * w + j] = x[i][j][0] - x[i][j][1] + y[i + h][j];
    const int *p = &y[1][2];
    return plane(2 * h, w, y) + row(y[2 * h - 1], w) + p[-2] + y[0][w] + whole(x[1], w) + sizeof x[0] + (x + 1 - x);
}
