/* Halves a plane of chroma in both directions, as JPEG encoders do: the mean of four samples, rounded up
   and down in turn so that no bias adds up along a row. */
#include <stdint.h>

void h2v2(int width, int height, const uint8_t in[2 * height][2 * width], uint8_t out[height][width])
{
    for (int y = 0; y < height; y++) {
        int bias = 1;
        for (int x = 0; x < width; x++) {
            int sum = in[2 * y][2 * x] + in[2 * y][2 * x + 1] + in[2 * y + 1][2 * x]
                + in[2 * y + 1][2 * x + 1];
            out[y][x] = (uint8_t)((sum + bias) >> 2);
            bias ^= 3;
        }
    }
}
