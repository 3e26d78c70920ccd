// run: cgemm(n=4, a=int16[4,4,2], b=int16[4,4,2], c=int16[4,4,2]=0)
#include "nbcc/sdpnm.h"
void cgemm(int n, const cint16_t a[n][n], const cint16_t b[n][n], cint16_t c[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            cint32_t s = {0};
            for (int k = 0; k < n; k++) s = nbcc_cmac(s, a[i][k], b[k][j], 15);
            c[i][j].re = s.re;
            c[i][j].im = s.im;
        }
}
