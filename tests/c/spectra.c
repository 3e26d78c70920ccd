// run: fft_r2(logn=6, x=int16[64,2]%12000)
// run: fft_r2(logn=1, x=int16[2,2]%12000)
// run: fft_r2(logn=0, x=int16[1,2]%12000)
// run: fft_r4(n=64, x=int32[128]%100000, tw=int16[128]%32767)
// run: fft_r4(n=4, x=int32[8]%100000, tw=int16[8]%32767)
// run: fft_r4(n=1, x=int32[2]%100000, tw=int16[2]%32767)
// run: goertzel(n=128, x=int16[128]%4000, coeff=23170)
// run: goertzel(n=1, x=int16[1]%4000, coeff=23170)
// run: goertzel(n=0, x=int16[0], coeff=23170)
// run: dtmf(n=100, x=int16[100]%1000, power=int32[8]=0)
// run: dtmf(n=0, x=int16[0]%1000, power=int32[8]=0)
// run: cordic_rotate(n=40, ang=int32[40]%51471, c=int32[40]=0, s=int32[40]=0)
// run: cordic_rotate(n=1, ang=int32[1]%51471, c=int32[1]=0, s=int32[1]=0)
// run: cordic_vector(n=33, iq=int16[33,2], mag=int32[33]=0, phase=int32[33]=0)
// run: cordic_vector(n=0, iq=int16[0,2], mag=int32[0]=0, phase=int32[0]=0)
// run: wht(n=32, v=int32[32]%1000)
// run: wht(n=1, v=int32[1]%1000)
// run: bitrev_table(n=64, bits=6, x=int16[64], y=int16[64]=0)
// run: bitrev_table(n=1, bits=0, x=int16[1], y=int16[1]=0)
#include <stdint.h>
#include <stddef.h>
typedef struct { int16_t r, i; } cpx16;
typedef struct { int32_t r, i; } cpx32;
static const int16_t sinetab[33] = { 0, 3212, 6393, 9512, 12539, 15446, 18204, 20787, 23170, 25329,
    27245, 28898, 30273, 31356, 32137, 32609, 32767, 32609, 32137, 31356, 30273, 28898, 27245, 25329,
    23170, 20787, 18204, 15446, 12539, 9512, 6393, 3212, 0 };
#define FIX_MPY(a, b) ((int16_t)(((((int32_t)(a) * (int32_t)(b)) >> 14) + 1) >> 1))
#define SWAP_(T, a, b) do { T tmp_ = (a); (a) = (b); (b) = tmp_; } while (0)

void fft_r2(unsigned logn, cpx16 x[1 << logn])
{
    const int n = 1 << logn;
    int mr = 0;
    for (int m = 1; m < n; ++m) {
        int l = n;
        do { l >>= 1; } while (mr + l > n - 1);
        mr = (mr & (l - 1)) + l;
        if (mr <= m) continue;
        SWAP_(cpx16, x[m], x[mr]);
    }
    int l = 1, k = 5;
    while (l < n) {
        int istep = l << 1;
        for (int m = 0; m < l; ++m) {
            int j = (m << k) & 63;
            int16_t wr = sinetab[(j + 16) <= 32 ? j + 16 : 32] >> 1;
            int16_t wi = -(sinetab[j <= 32 ? j : 64 - j]) >> 1;
            for (int i = m; i < n; i += istep) {
                int jj = i + l;
                int16_t tr = FIX_MPY(wr, x[jj].r) - FIX_MPY(wi, x[jj].i);
                int16_t ti = FIX_MPY(wr, x[jj].i) + FIX_MPY(wi, x[jj].r);
                int16_t qr = x[i].r >> 1, qi = x[i].i >> 1;
                x[jj].r = qr - tr; x[jj].i = qi - ti;
                x[i].r = qr + tr; x[i].i = qi + ti;
            }
        }
        --k;
        l = istep;
    }
}

void fft_r4(uint32_t n, int32_t x[2 * n], const int16_t tw[2 * n])
{
    uint32_t n1, n2 = n, ia, mod = 1;
    for (uint32_t k = n; k > 1; k >>= 2) {
        n1 = n2; n2 >>= 2; ia = 0;
        for (uint32_t j = 0; j < n2; j++) {
            int16_t co1 = tw[ia * 2], si1 = tw[ia * 2 + 1];
            uint32_t b = (2 * ia) % n, c = (3 * ia) % n;
            int16_t co2 = tw[b * 2], si2 = tw[b * 2 + 1], co3 = tw[c * 2], si3 = tw[c * 2 + 1];
            ia += mod;
            for (uint32_t i0 = j; i0 < n; i0 += n1) {
                uint32_t i1 = i0 + n2, i2 = i1 + n2, i3 = i2 + n2;
                int32_t r1 = x[2 * i0] + x[2 * i2], r2 = x[2 * i0] - x[2 * i2];
                int32_t s1 = x[2 * i0 + 1] + x[2 * i2 + 1], s2 = x[2 * i0 + 1] - x[2 * i2 + 1];
                int32_t t1 = x[2 * i1] + x[2 * i3];
                x[2 * i0] = (r1 + t1) >> 2;
                r1 -= t1;
                int32_t t2 = x[2 * i1 + 1] + x[2 * i3 + 1];
                x[2 * i0 + 1] = (s1 + t2) >> 2;
                s1 -= t2;
                t1 = x[2 * i1 + 1] - x[2 * i3 + 1];
                t2 = x[2 * i1] - x[2 * i3];
                x[2 * i1] = (int32_t)(((int64_t)co2 * r1 + (int64_t)si2 * s1) >> 17);
                x[2 * i1 + 1] = (int32_t)(((int64_t)co2 * s1 - (int64_t)si2 * r1) >> 17);
                r1 = r2 + t1; r2 -= t1;
                s1 = s2 - t2; s2 += t2;
                x[2 * i2] = (int32_t)(((int64_t)co1 * r1 + (int64_t)si1 * s1) >> 17);
                x[2 * i2 + 1] = (int32_t)(((int64_t)co1 * s1 - (int64_t)si1 * r1) >> 17);
                x[2 * i3] = (int32_t)(((int64_t)co3 * r2 + (int64_t)si3 * s2) >> 17);
                x[2 * i3 + 1] = (int32_t)(((int64_t)co3 * s2 - (int64_t)si3 * r2) >> 17);
            }
        }
        mod <<= 2;
    }
}

int32_t goertzel(size_t n, const int16_t x[n], int16_t coeff)
{
    int32_t q0, q1 = 0, q2 = 0;
    for (size_t i = 0; i < n; i++) {
        q0 = (int32_t)(((int64_t)coeff * q1) >> 14) - q2 + (x[i] >> 4);
        q2 = q1; q1 = q0;
    }
    int64_t p = (int64_t)q1 * q1 + (int64_t)q2 * q2 - (((int64_t)q1 * q2 >> 14) * coeff);
    return (int32_t)(p >> 16);
}

static const int16_t dtmf_coef[8] = { 27980, 26956, 25701, 24219, 19073, 16325, 13085, 9315 };
void dtmf(unsigned n, const int16_t x[n], int32_t power[8])
{
    for (int t = 0; t < 8; t++) {
        int32_t s = 0, s1 = 0, s2 = 0;
        for (unsigned k = 0; k < n; k++) {
            s = x[k] + ((dtmf_coef[t] * s1) >> 14) - s2;
            s2 = s1; s1 = s;
        }
        power[t] = s1 * s1 + s2 * s2 - ((dtmf_coef[t] * s1) >> 14) * s2;
    }
}

#define CORDIC_STEPS 14
static const int32_t atan_lut[CORDIC_STEPS] = { 25736, 15193, 8027, 4075, 2045, 1024, 512, 256, 128, 64, 32, 16, 8, 4 };
void cordic_rotate(int n, const int32_t ang[n], int32_t c[n], int32_t s[n])
{
    for (int k = 0; k < n; k++) {
        int32_t x = 19898, y = 0, z = ang[k];
        for (int i = 0; i < CORDIC_STEPS; i++) {
            int32_t d = z >> 31;
            int32_t tx = x - (((y >> i) ^ d) - d);
            int32_t ty = y + (((x >> i) ^ d) - d);
            z -= (atan_lut[i] ^ d) - d;
            x = tx; y = ty;
        }
        c[k] = x; s[k] = y;
    }
}
void cordic_vector(int n, const cpx16 iq[n], int32_t mag[n], int32_t phase[n])
{
    for (int k = 0; k < n; k++) {
        int32_t x = iq[k].r, y = iq[k].i, a = 0, t;
        if (x < 0) { if (y >= 0) { t = x; x = y; y = -t; a = 51472; } else { t = x; x = -y; y = t; a = -51472; } }
        for (int i = 0; i != CORDIC_STEPS; ++i) {
            if (y > 0) { t = x + (y >> i); y -= x >> i; x = t; a += atan_lut[i]; }
            else       { t = x - (y >> i); y += x >> i; x = t; a -= atan_lut[i]; }
        }
        mag[k] = x; phase[k] = a;
    }
}
void wht(int n, int32_t v[n])
{
    for (int h = 1; h < n; h *= 2)
        for (int i = 0; i < n; i += h * 2)
            for (int j = i; j < i + h; j++) {
                int32_t a = v[j], b = v[j + h];
                v[j] = a + b;
                v[j + h] = a - b;
            }
}
void bitrev_table(int n, int bits, const int16_t x[n], int16_t y[n])
{
    for (int i = 0; i < n; i++) {
        unsigned r = 0, v = i;
        for (int b = 0; b < bits; b++) { r = (r << 1) | (v & 1); v >>= 1; }
        y[r] = x[i];
    }
}
