// run: window(h=5, w=4, first=1, a=int16[5,4], out=int32[4]=0)
// run: window(h=1, w=7, first=0, a=int16[1,7], out=int32[7]=0)
// run: blur(h=6, w=5, a=int16[6,5]%1000, out=int16[6,5]=0)
// run: sizes(n=3, m=6)
// run: planes(n=2, h=3, w=4, a=uint8[2,3,4], out=uint8[3,4]=0)
// run: changing(n=4, a=int32[24])
#include <stdint.h>

// Pointers to rows whose length is known when their declaration is reached only.
void window(int h, int w, int first, const int16_t a[h][w], int32_t out[w])
{
    const int16_t (*row)[w] = a + first;
    for (; row < a + h; row++)
        for (int j = 0; j < w; j++)
            out[j] += (*row)[j] * (int)(row - a);
}

void blur(int h, int w, const int16_t a[h][w], int16_t out[h][w])
{
    const int width = w;
    for (int i = 1; i + 1 < h; i++) {
        const int16_t (*around)[width] = &a[i - 1];
        int16_t (*to)[w] = out + i;
        for (int j = 0; j < width; j++)
            to[0][j] = (around[0][j] + 2 * around[1][j] + around[2][j]) / 4;
    }
}

// The length stays what it was.
int sizes(int n, int m)
{
    static int table[64];
    for (int i = 0; i < 64; i++)
        table[i] = i * i;
    int (*p)[m + 1] = 0;
    m = 100;
    int size = sizeof *p;
    int (*one)[64] = &table;
    return size * n + (*one)[size / 4];
}

void planes(int n, int h, int w, const uint8_t a[n][h][w], uint8_t out[h][w])
{
    const uint8_t (*plane)[h][w] = a + n - 1;
    for (int i = 0; i < h; i++) {
        const uint8_t (*row)[w] = *plane + i;
        for (int j = 0; j < w; j++)
            out[i][j] = (*row)[j] ^ plane[-1][i][j];
    }
}

// A length of its own in each round.
int changing(int n, const int32_t a[24])
{
    const int32_t (*all)[24] = (void *)0;
    int sum = 0;
    for (int k = 1; k <= n; k++) {
        const int32_t (*rows)[k] = (void *)0;
        sum += sizeof *rows + sizeof rows[0][0];
        for (int j = 0; j < k; j++)
            sum += a[k * j];
    }
    return sum + (all == 0);
}
