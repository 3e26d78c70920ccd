/* Numerically controlled oscillator: a complex carrier of n samples. The phase is a fraction of a turn
   in 2^-32; the upper ten bits choose one of 1024 values of a turn of the sine. */
#include <stdint.h>

typedef struct { int16_t re, im; } cint16;

void nco(int n, uint32_t step, uint32_t phase, const int16_t sine[1024], cint16 carrier[n])
{
    for (int i = 0; i < n; i++) {
        uint32_t turn = phase >> 22;
        carrier[i].re = sine[(turn + 256) & 1023];
        carrier[i].im = sine[turn];
        phase += step;
    }
}
