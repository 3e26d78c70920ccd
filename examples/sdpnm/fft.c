/* Fast Fourier transform of 1024 complex points: five stages of radix 4, decimation in frequency. Each
   stage divides by four, so that nothing overflows; the result is in order. twiddle[k] is
   exp(-2 pi i k / 1024) in 2^-15. */
#include <stdint.h>

#define POINTS 1024

typedef struct { int16_t re, im; } cint16;

static cint16 turn(int32_t re, int32_t im, cint16 w)
{
    cint16 result;
    result.re = (int16_t)((re * w.re - im * w.im + (1 << 14)) >> 15);
    result.im = (int16_t)((re * w.im + im * w.re + (1 << 14)) >> 15);
    return result;
}

void fft(const cint16 x[POINTS], const cint16 twiddle[POINTS], cint16 y[POINTS])
{
    static cint16 work[POINTS];
    for (int i = 0; i < POINTS; i++)
        work[i] = x[i];
    for (int quarter = POINTS / 4; quarter >= 1; quarter /= 4) {
        int step = POINTS / (4 * quarter);
        for (int first = 0; first < POINTS; first += 4 * quarter) {
            for (int k = 0; k < quarter; k++) {
                cint16 a = work[first + k], b = work[first + k + quarter];
                cint16 c = work[first + k + 2 * quarter], d = work[first + k + 3 * quarter];
                int32_t ac_re = a.re + c.re, ac_im = a.im + c.im;
                int32_t bd_re = b.re + d.re, bd_im = b.im + d.im;
                int32_t ac2_re = a.re - c.re, ac2_im = a.im - c.im;
                /* (b - d) times -i */
                int32_t bd2_re = b.im - d.im, bd2_im = d.re - b.re;
                cint16 sum = { (int16_t)((ac_re + bd_re) >> 2), (int16_t)((ac_im + bd_im) >> 2) };
                work[first + k] = sum;
                work[first + k + quarter] =
                    turn((ac2_re + bd2_re) >> 2, (ac2_im + bd2_im) >> 2, twiddle[k * step]);
                work[first + k + 2 * quarter] =
                    turn((ac_re - bd_re) >> 2, (ac_im - bd_im) >> 2, twiddle[2 * k * step]);
                work[first + k + 3 * quarter] =
                    turn((ac2_re - bd2_re) >> 2, (ac2_im - bd2_im) >> 2, twiddle[3 * k * step]);
            }
        }
    }
    for (int i = 0; i < POINTS; i++) {
        int reversed = 0;
        for (int digit = 0; digit < 5; digit++)
            reversed |= ((i >> (2 * digit)) & 3) << (8 - 2 * digit);
        y[reversed] = work[i];
    }
}
