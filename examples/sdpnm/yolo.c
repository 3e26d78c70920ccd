/* Convolution layer of a detector in 8 bits: `kernel` x `kernel` weights (1 or 3), every `stride`-th
   place, a bias, a leaky rectifier of slope 1/8, and a shift back to 8 bits with saturation. The input
   has a border of kernel / 2 zeros. */
#include <stdint.h>

static int8_t saturate(int32_t value)
{
    return (int8_t)(value > 127 ? 127 : value < -128 ? -128 : value);
}

void yolo(int channels, int features, int size, int kernel, int stride, int shift,
          const int8_t in[channels][size + kernel - 1][size + kernel - 1],
          const int8_t weights[features][channels][kernel][kernel],
          const int32_t bias[features],
          int8_t out[features][(size + stride - 1) / stride][(size + stride - 1) / stride])
{
    int places = (size + stride - 1) / stride;
    for (int f = 0; f < features; f++) {
        for (int y = 0; y < places; y++) {
            for (int x = 0; x < places; x++) {
                int32_t sum = bias[f];
                for (int c = 0; c < channels; c++)
                    for (int dy = 0; dy < kernel; dy++)
                        for (int dx = 0; dx < kernel; dx++)
                            sum += in[c][y * stride + dy][x * stride + dx] * weights[f][c][dy][dx];
                out[f][y][x] = saturate((sum < 0 ? sum >> 3 : sum) >> shift);
            }
        }
    }
}
