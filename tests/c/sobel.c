// run: sobel(h=6, w=8, in=uint8[48], out=int16[6,8]=0)
#include <stdint.h>
#include <stdlib.h>
static int at(const uint8_t *p, int w, int y, int x) { return p[y * w + x]; }
void sobel(int h, int w, const uint8_t *restrict in, int16_t out[restrict h][w])
{
    for (int y = 1; y + 1 < h; y++)
        for (int x = 1; x + 1 < w; x++) {
            int gx = at(in, w, y - 1, x + 1) + 2 * at(in, w, y, x + 1) + at(in, w, y + 1, x + 1)
                   - at(in, w, y - 1, x - 1) - 2 * at(in, w, y, x - 1) - at(in, w, y + 1, x - 1);
            int gy = in[(y + 1) * w + x - 1] + 2 * in[(y + 1) * w + x] + in[(y + 1) * w + x + 1]
                   - in[(y - 1) * w + x - 1] - 2 * in[(y - 1) * w + x] - in[(y - 1) * w + x + 1];
            out[y][x] = abs(gx) + abs(gy);
        }
}
