// run: biquad_df1_q15(blockSize=64, stages=3, src=int16[64], coeffs=int16[18]%8000, state=int16[12]=0, dst=int16[64]=0)
// run: biquad_df1_q15(blockSize=1, stages=1, src=int16[1], coeffs=int16[6]%8000, state=int16[4]=0, dst=int16[1]=0)
// run: biquad_df1_q15(blockSize=0, stages=2, src=int16[0], coeffs=int16[12]%8000, state=int16[8]%100, dst=int16[0]=0)
// run: lms_q15(blockSize=48, numTaps=16, in=int16[48]%9000, ref=int16[48]%9000, state=int16[63]=0, w=int16[16]=0, err=int16[48]=0, mu=700)
// run: lms_q15(blockSize=1, numTaps=1, in=int16[1]%9000, ref=int16[1]%9000, state=int16[1]=0, w=int16[1]=0, err=int16[1]=0, mu=700)
// run: lms_q15(blockSize=0, numTaps=4, in=int16[0], ref=int16[0], state=int16[3], w=int16[4], err=int16[0]=0, mu=700)
// run: dot_q31(n=75, a=int32[75], b=int32[75])
// run: dot_q31(n=1, a=int32[1], b=int32[1])
// run: dot_q31(n=0, a=int32[0], b=int32[0])
// run: scale_q31(n=61, x=int32[61], k=-1431655765, sh=3, y=int32[61]=0)
// run: scale_q31(n=3, x=int32[3], k=715827882, sh=-2, y=int32[3]=0)
// run: scale_q31(n=0, x=int32[0], k=715827882, sh=-2, y=int32[0]=0)
// run: cmplx_mag_sq(n=50, z=int16[50,2], out=int16[50]=0)
// run: cmplx_mag_sq(n=1, z=int16[1,2], out=int16[1]=0)
// run: cmplx_mag_sq(n=0, z=int16[0,2], out=int16[0]=0)
// run: offset_clip(n=77, x=int8[77], off=100, y=int8[77]=0)
// run: offset_clip(n=0, x=int8[0], off=-100, y=int8[0]=0)
// run: negate_abs(n=90, x=int16[90], neg=int16[90]=0, mag=int16[90]=0)
// run: negate_abs(n=1, x=int16[1], neg=int16[1]=0, mag=int16[1]=0)
#include <stdint.h>
typedef int16_t q15_t;
typedef int32_t q31_t;
typedef int64_t q63_t;
#define Q15_MAX  ((q15_t)0x7FFF)
#define Q15_MIN  ((q15_t)(-0x7FFF - 1))
#define SSAT_(x, hi, lo) ((x) > (hi) ? (hi) : ((x) < (lo) ? (lo) : (x)))
static inline q31_t __SSAT(q31_t val, uint32_t sat)
{
    if ((sat >= 1U) && (sat <= 32U)) {
        const q31_t max = (q31_t)((1U << (sat - 1U)) - 1U);
        const q31_t min = -1 - max;
        if (val > max) return max;
        else if (val < min) return min;
    }
    return val;
}
static inline q31_t clip_q63_to_q31(q63_t x)
{
    return ((q31_t)(x >> 32) != ((q31_t)x >> 31)) ? ((0x7FFFFFFF ^ ((q31_t)(x >> 63)))) : (q31_t)x;
}

void biquad_df1_q15(uint32_t blockSize, uint32_t stages, const q15_t src[blockSize],
                    const q15_t coeffs[stages * 6], q15_t state[stages * 4], q15_t dst[blockSize])
{
    const q15_t *pIn = src;
    q15_t *pState = state;
    const q15_t *pCoeffs = coeffs;
    uint32_t stage = stages, sample;
    do {
        q15_t b0 = *pCoeffs++; pCoeffs++;
        q15_t b1 = *pCoeffs++, b2 = *pCoeffs++, a1 = *pCoeffs++, a2 = *pCoeffs++;
        q15_t Xn1 = pState[0], Xn2 = pState[1], Yn1 = pState[2], Yn2 = pState[3];
        q15_t *pOut = dst;
        sample = blockSize;
        while (sample > 0U) {
            q15_t Xn = *pIn++;
            q63_t acc = (q31_t)b0 * Xn;
            acc += (q31_t)b1 * Xn1;
            acc += (q31_t)b2 * Xn2;
            acc += (q31_t)a1 * Yn1;
            acc += (q31_t)a2 * Yn2;
            q31_t out = __SSAT((q31_t)(acc >> 14), 16);
            Xn2 = Xn1; Xn1 = Xn; Yn2 = Yn1; Yn1 = (q15_t)out;
            *pOut++ = (q15_t)out;
            sample--;
        }
        pIn = dst;
        *pState++ = Xn1; *pState++ = Xn2; *pState++ = Yn1; *pState++ = Yn2;
    } while (--stage > 0U);
}

void lms_q15(uint32_t blockSize, uint32_t numTaps, const q15_t in[blockSize], const q15_t ref[blockSize],
             q15_t state[numTaps + blockSize - 1], q15_t w[numTaps], q15_t err[blockSize], q15_t mu)
{
    q15_t *pStateCurnt = &state[numTaps - 1U];
    q15_t *pState = state;
    uint32_t blk = blockSize;
    const q15_t *src = in, *r = ref;
    q15_t *e_out = err;
    while (blk > 0) {
        q15_t *px, *pb;
        q63_t acc = 0;
        *pStateCurnt++ = *src++;
        px = pState; pb = w;
        uint32_t tapCnt = numTaps;
        while (tapCnt > 0) { acc += (q63_t)((q31_t)*px++ * *pb++); tapCnt--; }
        q31_t y = __SSAT((q31_t)(acc >> 15), 16);
        q15_t e = *r++ - (q15_t)y;
        *e_out++ = e;
        q15_t alpha = (q15_t)(((q31_t)e * mu) >> 15);
        px = pState++; pb = w;
        tapCnt = numTaps;
        while (tapCnt > 0) {
            q31_t c = (q31_t)*pb + (((q31_t)alpha * *px++) >> 15);
            *pb++ = (q15_t)__SSAT(c, 16);
            tapCnt--;
        }
        blk--;
    }
}

q63_t dot_q31(uint32_t n, const q31_t a[n], const q31_t b[n])
{
    q63_t sum = 0;
    uint32_t blkCnt = n >> 2U;
    while (blkCnt > 0U) {
        sum += ((q63_t)*a++ * *b++) >> 14;
        sum += ((q63_t)*a++ * *b++) >> 14;
        sum += ((q63_t)*a++ * *b++) >> 14;
        sum += ((q63_t)*a++ * *b++) >> 14;
        blkCnt--;
    }
    blkCnt = n % 0x4U;
    while (blkCnt > 0U) { sum += ((q63_t)*a++ * *b++) >> 14; blkCnt--; }
    return sum;
}

void scale_q31(uint32_t n, const q31_t x[n], q31_t k, int8_t sh, q31_t y[n])
{
    int8_t kShift = sh + 1;
    int8_t sign = kShift & 0x80;
    uint32_t cnt;
    q31_t in, out;
    if (sign == 0) {
        for (cnt = n; cnt > 0; cnt--) {
            in = *x++;
            in = ((q63_t)in * k) >> 32;
            out = in << kShift;
            if (in != (out >> kShift)) out = 0x7FFFFFFF ^ (in >> 31);
            *y++ = out;
        }
    } else {
        for (cnt = n; cnt > 0; cnt--) {
            in = *x++;
            in = ((q63_t)in * k) >> 32;
            *y++ = in >> -kShift;
        }
    }
}

void cmplx_mag_sq(uint32_t n, const struct { q15_t re, im; } z[n], q15_t out[n])
{
    for (uint32_t i = 0; i < n; ++i) {
        q31_t a0 = z[i].re * z[i].re, a1 = z[i].im * z[i].im;
        out[i] = (q15_t)(((q63_t)a0 + a1) >> 17);
    }
}

void offset_clip(uint32_t n, const int8_t x[n], int8_t off, int8_t y[n])
{
    uint32_t i = 0;
    for (; i < n; i++) y[i] = (int8_t)SSAT_((int16_t)x[i] + off, 127, -128);
}

void negate_abs(uint16_t n, const q15_t x[n], q15_t neg[n], q15_t mag[n])
{
    while (n > 0) {
        q15_t in = *x++;
        *neg++ = (in == Q15_MIN) ? Q15_MAX : -in;
        *mag++ = (in > 0) ? in : (q15_t)((in == Q15_MIN) ? Q15_MAX : -in);
        n--;
    }
}
