/* Complex fixed-point arithmetic in plain C, for kernels that other compilers take as well. Nothing
 * depends on this header: the same expressions written by hand become the same operations. */
#ifndef NBCC_SDPNM_H
#define NBCC_SDPNM_H

#include <stdint.h>

/* A complex number of two 16-bit integers. */
typedef struct {
    int16_t re, im;
} cint16_t;

/* A complex number of two 32-bit integers, for sums of products. */
typedef struct {
    int32_t re, im;
} cint32_t;

/* A value cut off at the bounds of 16 bits. */
static inline int16_t nbcc_sat16(int32_t x)
{
    return (int16_t)(x > 32767 ? 32767 : x < -32768 ? -32768 : x);
}

/* A value cut off at the bounds of 8 bits. */
static inline int8_t nbcc_sat8(int32_t x)
{
    return (int8_t)(x > 127 ? 127 : x < -128 ? -128 : x);
}

/* a + b, wrapping. */
static inline cint16_t nbcc_cadd(cint16_t a, cint16_t b)
{
    cint16_t r = {(int16_t)(a.re + b.re), (int16_t)(a.im + b.im)};
    return r;
}

/* a - b, wrapping. */
static inline cint16_t nbcc_csub(cint16_t a, cint16_t b)
{
    cint16_t r = {(int16_t)(a.re - b.re), (int16_t)(a.im - b.im)};
    return r;
}

/* a * b, exact but for wrapping at 32 bits. */
static inline cint32_t nbcc_cmul32(cint16_t a, cint16_t b)
{
    cint32_t r = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return r;
}

/* a * conj(b). */
static inline cint32_t nbcc_cmul32_conj(cint16_t a, cint16_t b)
{
    cint32_t r = {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
    return r;
}

/* (a * b) >> shift, the low 16 bits of each part. */
static inline cint16_t nbcc_cmul(cint16_t a, cint16_t b, int shift)
{
    cint32_t p = nbcc_cmul32(a, b);
    cint16_t r = {(int16_t)(p.re >> shift), (int16_t)(p.im >> shift)};
    return r;
}

/* (a * conj(b)) >> shift. */
static inline cint16_t nbcc_cmul_conj(cint16_t a, cint16_t b, int shift)
{
    cint32_t p = nbcc_cmul32_conj(a, b);
    cint16_t r = {(int16_t)(p.re >> shift), (int16_t)(p.im >> shift)};
    return r;
}

/* acc + ((a * b) >> shift). */
static inline cint32_t nbcc_cmac(cint32_t acc, cint16_t a, cint16_t b, int shift)
{
    cint32_t p = nbcc_cmul32(a, b);
    cint32_t r = {acc.re + (p.re >> shift), acc.im + (p.im >> shift)};
    return r;
}

/* acc + ((a * conj(b)) >> shift). */
static inline cint32_t nbcc_cmac_conj(cint32_t acc, cint16_t a, cint16_t b, int shift)
{
    cint32_t p = nbcc_cmul32_conj(a, b);
    cint32_t r = {acc.re + (p.re >> shift), acc.im + (p.im >> shift)};
    return r;
}

/* The low `bits` bits of x in the opposite order; 0 to 32 bits. */
static inline uint32_t nbcc_bitrev(uint32_t x, int bits)
{
    uint32_t r = 0;
    for (int i = 0; i < bits; i++) {
        r = (r << 1) | (x & 1);
        x >>= 1;
    }
    return r;
}

#endif
