/* Cascaded integrator-comb filter of four stages that keeps one sample of eight. Integrators wrap; the
   combs take back what wrapped, as long as the sums fit 32 bits (gain 8^4, 12 bits). */
#include <stdint.h>

#define STAGES 4
#define RATE 8

void cic(int n, const int16_t x[n * RATE], int16_t y[n])
{
    int32_t integrator[STAGES] = {0}, comb[STAGES] = {0};
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < RATE; k++) {
            int32_t sum = x[i * RATE + k];
            for (int s = 0; s < STAGES; s++) {
                integrator[s] += sum;
                sum = integrator[s];
            }
        }
        int32_t value = integrator[STAGES - 1];
        for (int s = 0; s < STAGES; s++) {
            int32_t before = comb[s];
            comb[s] = value;
            value -= before;
        }
        y[i] = (int16_t)(value >> 12);
    }
}
