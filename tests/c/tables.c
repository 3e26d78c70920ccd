// run: tables(n=16, out=int32[16]=0)
#include <stdint.h>
enum { SIZE = 8, HALF = SIZE / 2, LAST = -1 };
enum color { RED, GREEN = 5, BLUE };
static const int16_t quarter[SIZE + 1] = { 0, 6393, 12539, 18204, 23170, 27245, 30273, 32137, 32767 };
static const struct { int a; struct { short b[2]; } c; } deep[2] = { { 1, { { 2, 3 } } }, { .c.b[1] = 9, .a = 4 } };
static const int sparse[] = { [3] = 7, 8, [1] = 5, [6] = HALF };
static int grid[2][3] = { { 1, 2 }, { 4, 5, 6 } };
static int flat[2][2] = { 1, 2, 3, 4 };
static const char text[] = "hi!";
static const char padded[6] = "abc";
static int counter;
static int next(void)
{
    static int calls = 10;
    counter += 2;
    return calls++;
}
int tables(int n, int out[n])
{
    int local[4] = { 1, 2 };
    const int scale[] = { 3, 1, 4, 1, 5 };
    for (int i = 0; i < n; i++) {
        int folded = i % (2 * SIZE);
        out[i] = folded <= SIZE ? quarter[folded] : quarter[2 * SIZE - folded];
        out[i] += scale[i % 5] * next() + local[i % 4];
        grid[i % 2][i % 3] += i;
    }
    enum color c = BLUE;
    out[0] = deep[0].a + deep[0].c.b[0] * 10 + deep[0].c.b[1] * 100 + deep[1].c.b[1] * 1000 + deep[1].a * 10000;
    out[1] = sizeof sparse / sizeof sparse[0] * 1000 + sparse[4] + sparse[3] + sparse[1] + sparse[6] + sparse[0];
    out[2] = text[0] + text[2] + sizeof text + padded[2] + padded[5] + "xyz"[1];
    out[3] = grid[1][2] + grid[0][0] * 100 + flat[1][0];
    int last = next();
    return counter + last + c + LAST;
}
