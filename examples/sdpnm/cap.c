/* Caps samples to a range and says how many were outside. */
#include <stdint.h>

int cap(int n, int16_t low, int16_t high, const int16_t x[n], int16_t y[n])
{
    int capped = 0;
    for (int i = 0; i < n; i++) {
        int16_t v = x[i];
        int is_outside = v < low || v > high;
        y[i] = v < low ? low : v > high ? high : v;
        capped += is_outside;
    }
    return capped;
}
