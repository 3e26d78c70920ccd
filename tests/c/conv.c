// run: conv(h=6, w=7, x=int8[3,8,9], k=int8[4,3,3,3], bias=int32[4]%1000, y=int8[4,6,7]=0)
#include <stdint.h>
enum { IN = 3, OUT = 4 };
void conv(int h, int w, const int8_t x[IN][h + 2][w + 2], const int8_t k[OUT][IN][3][3], const int32_t bias[OUT], int8_t y[OUT][h][w])
{
    for (int o = 0; o < OUT; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                int32_t acc = bias[o];
                for (int c = 0; c < IN; c++)
                    for (int di = 0; di < 3; di++)
                        for (int dj = 0; dj < 3; dj++)
                            acc += x[c][i + di][j + dj] * k[o][c][di][dj];
                acc >>= 8;
                y[o][i][j] = acc < 0 ? 0 : acc > 127 ? 127 : acc;
            }
}
