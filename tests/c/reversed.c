// run: bits(k=0, x=int16[1], y=int16[1]=0)
// run: bits(k=1, x=int16[2], y=int16[2]=0)
// run: bits(k=4, x=int16[16], y=int16[16]=0)
// run: bits(k=8, x=int16[256], y=int16[256]=0)
// run: eight(x=uint16[256], y=uint16[256,2]=0)
// run: digits(x=int32[64], y=int32[64]=0)
// run: twice(x=int32[128]%100, y=int32[64]=0)
// run: transposed(x=int32[240], y=int32[240]=0)
// run: gray(x=int16[64], y=int16[64]=0)
// run: meets(x=int32[64]%100, y=int32[64]=0)
#include <stdint.h>
void bits(int k, const int16_t x[1 << k], int16_t y[1 << k])
{
    for (int i = 0; i < 1 << k; i++) {
        int reversed = 0;
        for (int bit = 0; bit < k; bit++)
            reversed = reversed << 1 | (i >> bit & 1);
        y[reversed] = x[i];
    }
}
void eight(const uint16_t x[256], uint16_t y[256][2])
{
    for (int i = 0; i < 256; i++) {
        int r = (i & 1) << 7 | (i & 2) << 5 | (i & 4) << 3 | (i & 8) << 1;
        r |= (i & 16) >> 1 | (i & 32) >> 3 | (i & 64) >> 5 | (i & 128) >> 7;
        y[r][0] = x[i], y[r][1] = (uint16_t)(x[i] ^ r);
    }
}
void digits(const int32_t x[64], int32_t y[64])
{
    for (int i = 0; i < 64; i++)
        y[(i & 3) << 4 | (i >> 2 & 3) << 2 | i >> 4] = x[i];
}
/* Two iterations store to each element: the later one counts. */
void twice(const int32_t x[128], int32_t y[64])
{
    for (int i = 0; i < 128; i++)
        y[(i & 7) << 3 | (i >> 3 & 7)] += x[i];
}
/* Parts that are no powers of two. */
void transposed(const int32_t x[240], int32_t y[240])
{
    for (int i = 0; i < 240; i++)
        y[i % 16 * 15 + i / 16] = x[i];
}
void gray(const int16_t x[64], int16_t y[64])
{
    for (int i = 0; i < 64; i++)
        y[i ^ i >> 1] = x[i];
}
/* Parts with bits in common. */
void meets(const int32_t x[64], int32_t y[64])
{
    for (int i = 0; i < 64; i++)
        y[(i & 7) << 2 | (i >> 3)] = x[i] + y[(i & 7) << 2];
}
