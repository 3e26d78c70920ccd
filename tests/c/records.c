// run: records(n=3)
// run: records(n=0)
// run: shifted(n=5, out=int32[12]=0)
#include <stdint.h>
#include <string.h>

struct cell { int8_t tag; int32_t value; };
struct grid { struct cell at[2][3]; uint16_t mark; };
static struct grid boards[4];

static int32_t total(const struct grid *g)
{
    int32_t sum = g->mark;
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            sum = sum * 7 + g->at[y][x].value - g->at[y][x].tag;
    return sum;
}

/* Arrays of arrays of structures of several types, assigned, copied and cleared as a whole. */
int32_t records(int n)
{
    struct grid a = { .mark = 9 }, b = { { { { 1, 2 } } }, 3 };
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            a.at[y][x] = (struct cell){ (int8_t)(y - x), 100 * y + x + n };
    b = a;
    for (int k = 0; k < 4; k++)
        memcpy(&boards[k], k & 1 ? &a : &b, sizeof a);
    boards[1].at[1][2].value = -5;
    memmove(boards + 1, boards, (size_t)n * sizeof *boards);
    memset(&boards[3].at[1], 0xff, sizeof boards[3].at[1]);
    memset(boards, 0, sizeof *boards);
    int32_t sum = 0;
    for (int k = 0; k < 4; k++)
        sum = sum * 31 + total(&boards[k]);
    return sum + total(&b);
}

void shifted(int n, int32_t out[12])
{
    static struct cell cells[12];
    for (int k = 0; k < 12; k++)
        cells[k] = (struct cell){ (int8_t)k, k * k };
    memmove(cells + 2, cells, (size_t)n * sizeof cells[0]);
    memmove(cells + 6, cells + 7, (size_t)n * sizeof cells[0]);
    for (int k = 0; k < 12; k++)
        out[k] = cells[k].value * 100 + cells[k].tag;
}
