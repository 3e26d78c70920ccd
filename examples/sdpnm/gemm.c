/* Product of complex matrices, 16 x 16 in the paper's figure 6; elements in 2^-15, sums rounded. */
#include <stdint.h>

typedef struct { int16_t re, im; } cint16;

void gemm(int n, const cint16 a[n][n], const cint16 b[n][n], cint16 c[n][n])
{
    for (int row = 0; row < n; row++) {
        for (int column = 0; column < n; column++) {
            int32_t re = 1 << 14, im = 1 << 14;
            for (int k = 0; k < n; k++) {
                cint16 p = a[row][k], q = b[k][column];
                re += p.re * q.re - p.im * q.im;
                im += p.re * q.im + p.im * q.re;
            }
            c[row][column].re = (int16_t)(re >> 15);
            c[row][column].im = (int16_t)(im >> 15);
        }
    }
}
