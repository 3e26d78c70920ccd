/* Filter of 32 taps with a finite impulse response, coefficients in 2^-15, rounded. */
#include <stdint.h>

#define TAPS 32

void fir(int n, const int16_t x[n + TAPS - 1], const int16_t h[TAPS], int16_t y[n])
{
    for (int i = 0; i < n; i++) {
        int32_t sum = 1 << 14;
        for (int t = 0; t < TAPS; t++)
            sum += x[i + t] * h[t];
        y[i] = (int16_t)(sum >> 15);
    }
}
