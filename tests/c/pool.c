// run: pool(c=3, h=4, w=6, x=int8[3,4,6], y=int8[3,2,3]=0, best=int32[3]=0)
#include <stdint.h>
void pool(int c, int h, int w, const int8_t x[c][h][w], int8_t y[c][h / 2][w / 2], int32_t best[c])
{
    for (int k = 0; k < c; k++) {
        int at = 0;
        for (int i = 0; i < h / 2; i++)
            for (int j = 0; j < w / 2; j++) {
                int8_t m = INT8_MIN;
                for (int d = 0; d < 4; d++) {
                    int8_t v = x[k][2 * i + (d >> 1)][2 * j + (d & 1)];
                    m = v > m ? v : m;
                }
                y[k][i][j] = m < 0 ? m >> 3 : m;
                if (y[k][i][j] > y[k][at / (w / 2)][at % (w / 2)]) at = i * (w / 2) + j;
            }
        best[k] = at;
    }
}
