// run: median(h=5, w=6, in=uint8[5,6], out=uint8[5,6]=0)
// run: median(h=1, w=1, in=uint8[1,1], out=uint8[1,1]=0)
#include <stdint.h>
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
void median(int h, int w, const uint8_t in[h][w], uint8_t out[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uint8_t win[9];
            int k = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    win[k++] = in[CLAMP(y + dy, 0, h - 1)][CLAMP(x + dx, 0, w - 1)];
            for (int i = 0; i < 5; i++)
                for (int j = i + 1; j < 9; j++)
                    if (win[j] < win[i]) { uint8_t t = win[i]; win[i] = win[j]; win[j] = t; }
            out[y][x] = win[4];
        }
}
