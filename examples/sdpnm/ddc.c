/* Digital down converter: a carrier mixes 4096 samples down to the base band, a CIC filter of four
   stages keeps one of eight, a filter of 32 taps shapes the channel, and a half-band filter of 11 taps
   keeps one of two. */
#include <stdint.h>

#define SAMPLES 4096
#define RATE 8
#define SLOW (SAMPLES / RATE)
#define TAPS 32
#define HALF_TAPS 11

typedef struct { int16_t re, im; } cint16;

typedef struct { int32_t integrator[4], comb[4]; } stages;

static int32_t integrate(stages *s, int32_t x)
{
    for (int k = 0; k < 4; k++) {
        s->integrator[k] += x;
        x = s->integrator[k];
    }
    return x;
}

static int32_t comb(stages *s, int32_t x)
{
    for (int k = 0; k < 4; k++) {
        int32_t before = s->comb[k];
        s->comb[k] = x;
        x -= before;
    }
    return x;
}

static cint16 filter(int taps, const cint16 *x, const int16_t *h)
{
    int32_t re = 1 << 14, im = 1 << 14;
    for (int t = 0; t < taps; t++) {
        re += x[t].re * h[t];
        im += x[t].im * h[t];
    }
    cint16 y = { (int16_t)(re >> 15), (int16_t)(im >> 15) };
    return y;
}

void ddc(uint32_t step, const int16_t adc[SAMPLES], const int16_t sine[1024],
         const int16_t channel[TAPS], const int16_t half[HALF_TAPS], cint16 out[SLOW / 2])
{
    static cint16 mixed[SAMPLES], slow[SLOW + TAPS - 1], shaped[SLOW + HALF_TAPS - 1];
    static stages re, im;
    uint32_t phase = 0;
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t turn = phase >> 22;
        mixed[i].re = (int16_t)((adc[i] * sine[(turn + 256) & 1023]) >> 15);
        mixed[i].im = (int16_t)(-(adc[i] * sine[turn]) >> 15);
        phase += step;
    }
    for (int i = 0; i < SLOW; i++) {
        int32_t sum_re = 0, sum_im = 0;
        for (int k = 0; k < RATE; k++) {
            sum_re = integrate(&re, mixed[RATE * i + k].re);
            sum_im = integrate(&im, mixed[RATE * i + k].im);
        }
        slow[TAPS - 1 + i].re = (int16_t)(comb(&re, sum_re) >> 12);
        slow[TAPS - 1 + i].im = (int16_t)(comb(&im, sum_im) >> 12);
    }
    for (int i = 0; i < SLOW; i++)
        shaped[HALF_TAPS - 1 + i] = filter(TAPS, &slow[i], channel);
    for (int i = 0; i < SLOW / 2; i++)
        out[i] = filter(HALF_TAPS, &shaped[2 * i], half);
}
