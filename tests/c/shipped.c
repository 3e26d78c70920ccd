// run: shipped(n=8, a=int16[8,2], b=int16[8,2], out=int16[8,2]=0, acc=int32[2]=0)
#include "nbcc/sdpnm.h"
uint32_t shipped(int n, const cint16_t a[n], const cint16_t b[n], cint16_t out[n], cint32_t acc[1])
{
    cint32_t sum = {0, 0};
    for (int i = 0; i < n; i++) {
        out[i] = nbcc_cadd(nbcc_cmul(a[i], b[i], 15), nbcc_csub(a[i], nbcc_cmul_conj(a[i], b[i], 14)));
        sum = nbcc_cmac(sum, a[i], b[i], 10);
        sum = nbcc_cmac_conj(sum, a[i], b[i], 12);
        out[i].re = nbcc_sat16(out[i].re * 3);
        out[i].im += nbcc_sat8(out[i].im);
    }
    acc[0] = sum;
    return nbcc_bitrev(0x1234, 16) + nbcc_bitrev(n, 4);
}
