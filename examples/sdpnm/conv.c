/* Convolution of a picture with 3 x 3 weights in 2^-8; the output is smaller by the border. */
#include <stdint.h>

void conv(int width, int height, const int16_t in[height][width], const int16_t weights[3][3],
          int16_t out[height - 2][width - 2])
{
    for (int y = 0; y < height - 2; y++) {
        for (int x = 0; x < width - 2; x++) {
            int32_t sum = 1 << 7;
            for (int dy = 0; dy < 3; dy++)
                for (int dx = 0; dx < 3; dx++)
                    sum += in[y + dy][x + dx] * weights[dy][dx];
            out[y][x] = (int16_t)(sum >> 8);
        }
    }
}
