// run: cic_decim(n=160, R=8, x=int16[160], y=int32[20]=0)
// run: cic_decim(n=8, R=8, x=int16[8], y=int32[1]=0)
// run: cic_decim(n=0, R=8, x=int16[0], y=int32[0]=0)
// run: polyphase(nin=40, L=3, T=8, x=int16[47]%3000, h=int16[24]%3000, y=int16[120]=0)
// run: polyphase(nin=1, L=1, T=1, x=int16[1]%3000, h=int16[1]%3000, y=int16[1]=0)
// run: polyphase(nin=0, L=3, T=8, x=int16[7]%3000, h=int16[24]%3000, y=int16[0]=0)
// run: agc(n=120, x=int16[120]%9000, y=int16[120]=0)
// run: agc(n=1, x=int16[1]%9000, y=int16[1]=0)
// run: pll(n=100, x=int16[100], phase_out=uint32[100]=0)
// run: pll(n=0, x=int16[0], phase_out=uint32[0]=0)
// run: costas(n=80, iq=int16[80,2]%8000, bits=int8[80]=0)
// run: costas(n=1, iq=int16[1,2]%8000, bits=int8[1]=0)
// run: pid(n=90, sp=int16[90]%4000, pv=int16[90]%4000, out=int16[90]=0)
// run: pid(n=0, sp=int16[0]%4000, pv=int16[0]%4000, out=int16[0]=0)
// run: foc(n=40, iab=int16[40,2], theta=uint16[40], dq=int16[40,2]=0, pwm=uint16[40,3]=0)
// run: foc(n=1, iab=int16[1,2], theta=uint16[1], dq=int16[1,2]=0, pwm=uint16[1,3]=0)
// run: debounce(n=150, raw=uint8[150]%3, ev=uint8[150]=0)
// run: uart_rx(n=200, line=uint8[200]%1, out=uint8[20]=0)
// run: uart_rx(n=0, line=uint8[0]%1, out=uint8[20]=0)
// run: slip_encode(n=50, in=uint8[50], out=uint8[102]=0)
// run: slip_encode(n=0, in=uint8[0], out=uint8[2]=0)
// run: cobs(n=60, in=uint8[60]%3, out=uint8[62]=0)
// run: cobs(n=0, in=uint8[0]%3, out=uint8[2]=0)
// run: bitpack12(n=40, s=uint16[40], out=uint8[60]=0)
// run: bitpack12(n=0, s=uint16[0], out=uint8[0]=0)
// run: huff_pack(n=50, sym=uint8[50]%7, out=uint8[60]=0)
// run: huff_pack(n=0, sym=uint8[0]%7, out=uint8[10]=0)
// run: exp_golomb(n=40, v=uint32[40]%200, out=uint8[90]=0)
// run: leb128(n=40, v=uint32[40], out=uint8[200]=0)
// run: ima_adpcm(n=64, pcm=int16[64], code=uint8[32]=0)
// run: mulaw(n=90, pcm=int16[90], u=uint8[90]=0, back=int16[90]=0)
// run: mulaw(n=1, pcm=int16[1], u=uint8[1]=0, back=int16[1]=0)
// run: levinson(p=8, r=int32[9]%100000, a=int32[9]=0)
// run: levinson(p=0, r=int32[1]%100000, a=int32[1]=0)
// run: lu_fixed(n=6, A=int32[36]%65536, b=int32[6]%65536)
// run: lu_fixed(n=1, A=int32[1]%65536, b=int32[1]%65536)
// run: lu_fixed(n=0, A=int32[0]%65536, b=int32[0]%65536)
// run: mat_mult_q15(ra=9, ca=7, cb=11, a=int16[63], b=int16[77], c=int16[99]=0)
// run: mat_mult_q15(ra=1, ca=1, cb=1, a=int16[1], b=int16[1], c=int16[1]=0)
// run: mat_trans(r=9, c=7, a=int32[63], t=int32[63]=0)
// run: kalman1d(n=70, z=int16[70], est=int16[70]=0)
// run: kalman1d(n=0, z=int16[0], est=int16[0]=0)
// run: sort_bitonic(logn=5, v=int32[32])
// run: sort_bitonic(logn=0, v=int32[1])
// run: shellsort(n=60, v=int16[60])
// run: shellsort(n=1, v=int16[1])
// run: shellsort(n=0, v=int16[0])
// run: bsearch_many(n=64, keys=int32[64]%100, m=50, q=int32[50]%100, pos=int32[50]=0)
// run: bsearch_many(n=0, keys=int32[0]%100, m=5, q=int32[5]%100, pos=int32[5]=0)
// run: ring_delay(n=100, x=int16[100], y=int16[100]=0, d=13, fb=12000)
// run: ring_delay(n=1, x=int16[1], y=int16[1]=0, d=1, fb=12000)
// run: pingpong(n=40, steps=7, u=int32[40]%1000)
// run: pingpong(n=40, steps=0, u=int32[40]%1000)
// run: pingpong(n=1, steps=3, u=int32[1]%1000)
// run: moving_avg_w(n=100, w=7, x=int16[100], y=int16[100]=0)
// run: moving_avg_w(n=5, w=7, x=int16[5], y=int16[5]=0)
// run: zero_cross(n=120, x=int16[120], idx=uint16[120]=0)
// run: zero_cross(n=0, x=int16[0], idx=uint16[0]=0)
// run: autocorr(n=100, lags=12, x=int16[100], r=int64[12]=0)
// run: autocorr(n=1, lags=3, x=int16[1], r=int64[3]=0)
// run: xcorr_norm(n=60, m=12, x=int16[60]%3000, t=int16[12]%3000)
// run: isqrt_vec(n=50, v=uint32[50], r=uint16[50]=0)
// run: isqrt_vec(n=0, v=uint32[0], r=uint16[0]=0)
// run: div_q16(n=30, a=int32[30], b=int32[30], q=int32[30]=0)
// run: log2_fix(n=40, x=uint32[40], y=int32[40]=0)
// run: popcounts(n=50, v=uint64[50], c=uint8[50]=0, z=int8[50]=0)
// run: nlms_delay_line(n=50, x=int16[50]%4000, d=int16[50]%4000, e=int16[50]=0)
// run: tokens(n=80, s=uint8[80]%127, kinds=uint8[80]=0)
// run: tokens(n=0, s=uint8[0]%127, kinds=uint8[0]=0)
// run: knn(n=20, m=15, pts=int16[20,3]%500, q=int16[15,3]%500, best=uint8[15]=0)
// run: pool_strided(C=3, H=9, W=11, in=int8[297], k=3, s=2, out=int8[60]=0)
// run: dwconv(C=4, H=8, W=8, in=int8[256], wt=int8[36], bias=int32[4]%500, out=int8[256]=0)
// run: dense_relu(nin=40, nout=12, x=int8[40], w=int8[480], b=int32[12]%3000, y=uint8[12]=0)
// run: softmax_fix(n=16, x=int16[16]%2000, p=uint16[16]=0)
// run: resample_lin(n=50, m=77, x=int16[50], y=int16[77]=0)
// run: resample_lin(n=2, m=1, x=int16[2], y=int16[1]=0)
// run: ema_struct(n=60, ch=int16[60,4], out=int16[60,4]=0)
// run: event_log(n=40, ev=int32[40,3]%8, cnt=int32[9]=0)
// run: u8_steps(n=200, x=uint8[200], y=uint8[200]=0)
// run: u16_le(n=99, x=uint16[100], y=uint16[100]=0)
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
#include <stdlib.h>
typedef struct { int32_t integ[3], comb[3]; } cic_state_t;
void cic_decim(int n, int R, const int16_t x[n], int32_t y[n / R])
{
    cic_state_t st = { .integ = { 0 } };
    int o = 0;
    for (int i = 0, cnt = 0; i < n; i++) {
        st.integ[0] += x[i];
        st.integ[1] += st.integ[0];
        st.integ[2] += st.integ[1];
        if (++cnt == R) {
            cnt = 0;
            int32_t v = st.integ[2];
            for (int k = 0; k < 3; k++) { int32_t t = v - st.comb[k]; st.comb[k] = v; v = t; }
            y[o++] = v >> 9;
        }
    }
}
void polyphase(int nin, int L, int T, const int16_t x[nin + T - 1], const int16_t h[L * T], int16_t y[nin * L])
{
    int16_t *out = y;
    for (const int16_t *p = x; p < x + nin; ++p)
        for (int ph = 0; ph < L; ph++) {
            int32_t acc = 0x4000;
            const int16_t *c = h + ph, *s = p + T;
            int t = T;
            while (t--) { acc += *--s * *c; c += L; }
            *out++ = acc >> 15;
        }
}
typedef enum { HOLD, ATTACK = 4, RELEASE } agc_mode;
void agc(int n, const int16_t x[n], int16_t y[n])
{
    int32_t gain = 1 << 12, env = 0;
    agc_mode mode = HOLD;
    int hold = 0;
    for (int i = 0; i < n; i++) {
        int32_t a = x[i] < 0 ? -x[i] : x[i];
        env += (a - env) * (a > env ? 3 : 1) >> 4;
        switch (mode) {
        case HOLD: if (env > 6000) mode = ATTACK; else if (env < 2000 && ++hold > 5) { mode = RELEASE; hold = 0; } break;
        case ATTACK: gain -= gain >> 4; if (env < 5000) mode = HOLD; break;
        case RELEASE: gain += (gain >> 6) + 1; if (env > 3000) mode = HOLD; break;
        }
        if (gain > 1 << 15) gain = 1 << 15; else if (gain < 64) gain = 64;
        int32_t v = x[i] * gain >> 12;
        y[i] = v > 32767 ? 32767 : v < -32768 ? -32768 : v;
    }
}
static const int8_t qsin[256 / 4 + 1] = { 0,3,6,9,12,16,19,22,25,28,31,34,37,40,43,46,49,51,54,57,60,63,65,68,71,73,76,78,81,83,85,88,90,92,94,96,98,100,102,104,106,107,109,111,112,113,115,116,117,118,120,121,122,122,123,124,125,125,126,126,126,127,127,127,127 };
static int sine8(uint32_t ph)
{
    uint8_t k = ph >> 24;
    switch (k >> 6) {
    case 0: return qsin[k];
    case 1: return qsin[128 - k];
    case 2: return -qsin[k - 128];
    default: return -qsin[256 - k];
    }
}
void pll(int n, const int16_t x[n], uint32_t phase_out[n])
{
    uint32_t ph = 0; int32_t freq = 0x04000000, integ = 0;
    for (int i = 0; i < n; i++) {
        int32_t err = (x[i] * sine8(ph + 0x40000000u)) >> 7;
        integ += err >> 3;
        ph += (uint32_t)(freq + (integ << 6) + (err << 9));
        phase_out[i] = ph;
    }
}
void costas(int n, const struct cpx { int16_t i, q; } iq[n], int8_t bits[n])
{
    uint32_t nco = 0; int32_t vel = 0;
    for (int k = 0; k < n; k++) {
        int c = sine8(nco + (1u << 30)), s = sine8(nco);
        struct cpx r;
        r.i = (iq[k].i * c + iq[k].q * s) >> 7;
        r.q = (iq[k].q * c - iq[k].i * s) >> 7;
        int e = r.i >= 0 ? r.q : -r.q;
        vel += e >> 2;
        nco += (uint32_t)(vel << 8) + (e << 14);
        bits[k] = r.i < 0 ? -1 : 1;
    }
}
struct pid_s { int32_t kp, ki, kd; struct { int32_t i; int16_t last; } st; int16_t lo, hi; };
static int16_t pid_step(struct pid_s *c, int16_t err)
{
    c->st.i += err * c->ki;
    if (c->st.i > c->hi << 12) c->st.i = c->hi << 12;
    else if (c->st.i < c->lo * 4096) c->st.i = c->lo * 4096;
    int32_t u = (err * c->kp + c->st.i + (err - c->st.last) * c->kd) >> 12;
    c->st.last = err;
    return u > c->hi ? c->hi : u < c->lo ? c->lo : u;
}
void pid(int n, const int16_t sp[n], const int16_t pv[n], int16_t out[n])
{
    struct pid_s c = { .kp = 3000, .ki = 120, 900, .lo = -8000, .hi = 8000 };
    for (int i = 0; i < n; i++) out[i] = pid_step(&c, sp[i] - pv[i]);
}
void foc(int n, const struct { int16_t a, b; } iab[n], const uint16_t theta[n], struct { int16_t d, q; } dq[n], uint16_t pwm[n][3])
{
    for (int i = 0; i < n; i++) {
        int32_t al = iab[i].a, be = ((int32_t)iab[i].a + 2 * iab[i].b) * 18919 >> 15;
        int32_t s = sine8((uint32_t)theta[i] << 16) << 8, c = sine8(((uint32_t)theta[i] << 16) + 0x40000000) << 8;
        dq[i].d = (al * c + be * s) >> 15;
        dq[i].q = (be * c - al * s) >> 15;
        int32_t va = al, vb = (-al + (be * 56756 >> 15)) / 2, vc = -va - vb;
        int32_t mx = va > vb ? va > vc ? va : vc : vb > vc ? vb : vc, mn = va < vb ? (va < vc ? va : vc) : (vb < vc ? vb : vc);
        int32_t off = (mx + mn) / 2;
        pwm[i][0] = (va - off) + 32768; pwm[i][1] = (vb - off) + 32768; pwm[i][2] = vc - off + 32768;
    }
}
void debounce(int n, const uint8_t raw[n], uint8_t ev[n])
{
    uint8_t c0 = 0, c1 = 0, state = 0;
    for (int i = 0; i < n; i++) {
        uint8_t delta = raw[i] ^ state;
        c0 = ~(c0 & delta);
        c1 = c0 ^ (c1 & delta);
        delta &= c0 & c1;
        state ^= delta;
        ev[i] = state & delta;
    }
}
int uart_rx(int n, const uint8_t line[n], uint8_t out[20])
{
    enum { IDLE, START, DATA, STOP } st = IDLE;
    unsigned tick = 0, bit = 0, sh = 0, got = 0;
    for (int i = 0; i < n; i++) {
        switch (st) {
        case IDLE: if (!line[i]) { st = START; tick = 0; } break;
        case START: if (++tick == 1) { if (line[i]) st = IDLE; else { st = DATA; bit = 0; sh = 0; tick = 0; } } break;
        case DATA: if (++tick == 2) { tick = 0; sh |= (line[i] & 1u) << bit; if (++bit == 8) st = STOP; } break;
        case STOP: if (++tick == 2) { if (line[i] && got < 20) out[got++] = (uint8_t)sh; st = IDLE; } break;
        }
    }
    return got;
}
unsigned slip_encode(unsigned n, const uint8_t in[n], uint8_t out[2 * n + 2])
{
    uint8_t *o = out;
    *o++ = 0xC0;
    for (const uint8_t *p = in, *e = in + n; p != e; p++) {
        if (*p == 0xC0) { *o++ = 0xDB; *o++ = 0xDC; }
        else if (*p == 0xDB) { *o++ = 0xDB; *o++ = 0xDD; }
        else *o++ = *p;
    }
    *o++ = 0xC0;
    return o - out;
}
unsigned cobs(unsigned n, const uint8_t in[n], uint8_t out[n + 2])
{
    unsigned read = 0, write = 1, code_at = 0; uint8_t code = 1;
    while (read < n) {
        if (in[read] == 0) { out[code_at] = code; code = 1; code_at = write++; read++; }
        else {
            out[write++] = in[read++];
            if (++code == 0xff) { out[code_at] = code; code = 1; code_at = write++; }
        }
    }
    out[code_at] = code;
    return write;
}
void bitpack12(int n, const uint16_t s[n], uint8_t out[n * 3 / 2])
{
    for (int i = 0, o = 0; i + 1 < n; i += 2, o += 3) {
        uint32_t v = (s[i] & 0xfff) | (uint32_t)(s[i + 1] & 0xfff) << 12;
        memcpy(&out[o], (uint8_t[3]) { v, v >> 8, v >> 16 }, 3);
    }
}
static const struct { uint8_t len; uint16_t code; } hufftab[8] = { {1, 0}, {3, 4}, {3, 5}, {4, 12}, {4, 13}, {5, 28}, {5, 29}, {6, 60} };
static inline void bw_put(uint8_t *dst, uint32_t *acc, int *nb, unsigned *pos, uint32_t v, int len)
{
    *acc = (*acc << len) | v; *nb += len;
    while (*nb >= 8) { dst[(*pos)++] = *acc >> (*nb - 8); *nb -= 8; }
}
unsigned huff_pack(int n, const uint8_t sym[n], uint8_t out[n + 10])
{
    uint32_t acc = 0; int nb = 0; unsigned pos = 0;
    for (int i = 0; i < n; i++) bw_put(out, &acc, &nb, &pos, hufftab[sym[i] & 7].code, hufftab[sym[i] & 7].len);
    if (nb) out[pos++] = acc << (8 - nb);
    return pos;
}
unsigned exp_golomb(int n, const uint32_t v[n], uint8_t out[2 * n + 10])
{
    unsigned bitpos = 0;
    for (int i = 0; i < n; i++) {
        uint32_t x = v[i] + 1; int len = 0;
        for (uint32_t t = x; t > 1; t >>= 1) len++;
        for (int b = 2 * len; b >= 0; b--) {
            if (b <= len && (x >> b & 1)) out[bitpos >> 3] |= 0x80 >> (bitpos & 7);
            bitpos++;
        }
    }
    return bitpos;
}
unsigned leb128(int n, const uint32_t v[n], uint8_t out[5 * n])
{
    unsigned o = 0;
    for (int i = 0; i < n; i++) {
        uint32_t x = v[i];
        do { uint8_t b = x & 0x7f; x >>= 7; if (x) b |= 0x80; out[o++] = b; } while (x);
    }
    return o;
}
static const int16_t steptab[89] = { 7,8,9,10,11,12,13,14,16,17,19,21,23,25,28,31,34,37,41,45,50,55,60,66,73,80,88,97,107,118,130,143,157,173,190,209,230,253,279,307,337,371,408,449,494,544,598,658,724,796,876,963,1060,1166,1282,1411,1552,1707,1878,2066,2272,2499,2749,3024,3327,3660,4026,4428,4871,5358,5894,6484,7132,7845,8630,9493,10442,11487,12635,13899,15289,16818,18500,20350,22385,24623,27086,29794,32767 };
static const int8_t idxtab[16] = { -1,-1,-1,-1,2,4,6,8,-1,-1,-1,-1,2,4,6,8 };
void ima_adpcm(int n, const int16_t pcm[n], uint8_t code[n / 2])
{
    int pred = 0, index = 0;
    for (int i = 0; i < n / 2 * 2; i++) {
        int step = steptab[index], diff = pcm[i] - pred, c = 0, vp = step >> 3;
        if (diff < 0) { c = 8; diff = -diff; }
        if (diff >= step) { c |= 4; diff -= step; vp += step; }
        step >>= 1;
        if (diff >= step) { c |= 2; diff -= step; vp += step; }
        step >>= 1;
        if (diff >= step) { c |= 1; vp += step; }
        pred += c & 8 ? -vp : vp;
        pred = pred > 32767 ? 32767 : pred < -32768 ? -32768 : pred;
        index += idxtab[c];
        index = index < 0 ? 0 : index > 88 ? 88 : index;
        if (i & 1) code[i >> 1] |= c << 4; else code[i >> 1] = c;
    }
}
void mulaw(int n, const int16_t pcm[n], uint8_t u[n], int16_t back[n])
{
    for (int i = 0; i < n; i++) {
        int16_t s = pcm[i]; uint8_t sign = (s >> 8) & 0x80;
        if (sign) s = s == -32768 ? 32767 : -s;
        if (s > 32635) s = 32635;
        s += 0x84;
        int e = 7;
        for (int m = 0x4000; (s & m) == 0 && e > 0; e--, m >>= 1) {}
        u[i] = ~(sign | e << 4 | ((s >> (e + 3)) & 0xf));
        uint8_t v = ~u[i];
        int t = (((v & 0xf) << 3) + 0x84) << ((v & 0x70) >> 4);
        back[i] = v & 0x80 ? 0x84 - t : t - 0x84;
    }
}
void levinson(int p, const int32_t r[p + 1], int32_t a[p + 1])
{
    int32_t tmp[65];
    int64_t e = r[0] ? r[0] : 1;
    a[0] = 1 << 16;
    for (int i = 1; i <= p; i++) {
        int64_t acc = (int64_t)r[i] << 16;
        for (int j = 1; j < i; j++) acc += (int64_t)a[j] * r[i - j];
        int32_t k = (int32_t)(-acc / e);
        if (k > 60000) k = 60000; if (k < -60000) k = -60000;
        memcpy(tmp, a, i * sizeof *a);
        a[i] = k;
        for (int j = 1; j < i; j++) a[j] = tmp[j] + (int32_t)((int64_t)k * tmp[i - j] >> 16);
        e -= e * k / 65536 * k / 65536;
        if (e == 0) e = 1;
    }
}
int lu_fixed(int n, int32_t A[n * n], int32_t b[n])
{
    for (int k = 0; k < n; k++) {
        int piv = k;
        for (int i = k + 1; i < n; i++) if (abs(A[i * n + k]) > abs(A[piv * n + k])) piv = i;
        if (A[piv * n + k] == 0) return -1 - k;
        if (piv != k) {
            for (int j = 0; j < n; j++) { int32_t t = A[k * n + j]; A[k * n + j] = A[piv * n + j]; A[piv * n + j] = t; }
            int32_t t = b[k]; b[k] = b[piv]; b[piv] = t;
        }
        for (int i = k + 1; i < n; i++) {
            int32_t f = (int32_t)(((int64_t)A[i * n + k] << 16) / A[k * n + k]);
            A[i * n + k] = f;
            for (int j = k + 1; j < n; j++) A[i * n + j] -= (int32_t)((int64_t)f * A[k * n + j] >> 16);
            b[i] -= (int32_t)((int64_t)f * b[k] >> 16);
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        int64_t s = (int64_t)b[i] << 16;
        for (int j = i + 1; j < n; j++) s -= (int64_t)A[i * n + j] * b[j];
        b[i] = (int32_t)(s / A[i * n + i]);
    }
    return 0;
}
void mat_mult_q15(uint16_t ra, uint16_t ca, uint16_t cb, const int16_t a[ra * ca], const int16_t b[ca * cb], int16_t c[ra * cb])
{
    const int16_t *pInA = a; int16_t *px;
    uint16_t col, i = 0, row = ra, colCnt;
    do {
        px = c + i;
        col = cb;
        const int16_t *pInB = b;
        do {
            int64_t sum = 0;
            const int16_t *pA = pInA, *pB = pInB;
            colCnt = ca;
            while (colCnt > 0u) { sum += (int32_t)*pA++ * *pB; pB += cb; colCnt--; }
            int32_t r = sum >> 15;
            *px++ = r > 32767 ? 32767 : r < -32768 ? -32768 : r;
            col--;
            pInB = b + (cb - col);
        } while (col > 0u);
        i = i + cb;
        pInA = pInA + ca;
        row--;
    } while (row > 0u);
}
void mat_trans(uint16_t r, uint16_t c, const int32_t a[r * c], int32_t t[c * r])
{
    const int32_t *p = a;
    uint16_t i = 0, row = r;
    do {
        int32_t *px = &t[i];
        for (uint16_t k = c; k; k--) { *px = *p++; px += r; }
        i++;
    } while (--row);
}
void kalman1d(int n, const int16_t z[n], int16_t est[n])
{
    int32_t x = 0, P = 1 << 16;
    const int32_t Q = 200, R = 5000;
    for (int i = 0; i < n; i++) {
        P += Q;
        int32_t K = (int32_t)(((int64_t)P << 15) / (P + R));
        x += K * (z[i] - x) >> 15;
        P -= (int32_t)((int64_t)K * P >> 15);
        est[i] = x;
    }
}
void sort_bitonic(int logn, int32_t v[1 << logn])
{
    const int n = 1 << logn;
    for (int k = 2; k <= n; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1)
            for (int i = 0; i < n; i++) {
                int l = i ^ j;
                if (l > i && ((i & k) == 0) == (v[i] > v[l])) { int32_t t = v[i]; v[i] = v[l]; v[l] = t; }
            }
}
void shellsort(int n, int16_t v[n])
{
    for (int gap = n / 2; gap > 0; gap /= 2)
        for (int i = gap; i < n; i++)
            for (int j = i - gap; j >= 0 && v[j] > v[j + gap]; j -= gap) { int16_t t = v[j]; v[j] = v[j + gap]; v[j + gap] = t; }
}
void bsearch_many(int n, const int32_t keys[n], int m, const int32_t q[m], int32_t pos[m])
{
    for (int k = 0; k < m; k++) {
        int lo = 0, hi = n;
        while (lo < hi) { int mid = lo + (hi - lo) / 2; if (keys[mid] < q[k]) lo = mid + 1; else hi = mid; }
        pos[k] = lo;
    }
}
void ring_delay(int n, const int16_t x[n], int16_t y[n], int d, int16_t fb)
{
    static int16_t ring[64];
    unsigned w = 0;
    memset(ring, 0, sizeof ring);
    for (int i = 0; i < n; i++) {
        unsigned r = (w - d) & 63;
        int32_t v = x[i] + (ring[r] * fb >> 15);
        if (v > 32767) v = 32767; if (v < -32768) v = -32768;
        ring[w] = v; w = (w + 1) & 63;
        y[i] = v;
    }
}
void pingpong(int n, int steps, int32_t u[n])
{
    int32_t other[128];
    int32_t *cur = u, *nxt = other;
    for (int s = 0; s < steps; s++) {
        nxt[0] = cur[0]; nxt[n - 1] = cur[n - 1];
        for (int i = 1; i < n - 1; i++) nxt[i] = cur[i] + ((cur[i - 1] - 2 * cur[i] + cur[i + 1]) >> 2);
        int32_t *t = cur; cur = nxt; nxt = t;
    }
    if (cur != u) for (int i = 0; i < n; i++) u[i] = cur[i];
}
void moving_avg_w(int n, int w, const int16_t x[n], int16_t y[n])
{
    int32_t s = 0;
    for (int i = 0; i < n; i++) {
        s += x[i];
        if (i >= w) s -= x[i - w];
        y[i] = s / (i < w ? i + 1 : w);
    }
}
int zero_cross(int n, const int16_t x[n], uint16_t idx[n])
{
    int c = 0;
    for (int i = 1; i < n; i++)
        if ((x[i - 1] ^ x[i]) < 0) idx[c++] = i;
    return c;
}
void autocorr(int n, int lags, const int16_t x[n], int64_t r[lags])
{
    for (int k = 0; k < lags; k++) {
        int64_t a = 0;
        for (int i = k; i < n; i++) a += x[i] * x[i - k];
        r[k] = a;
    }
}
int xcorr_norm(int n, int m, const int16_t x[n], const int16_t t[m])
{
    int best = -1; int64_t bv = INT64_MIN;
    for (int o = 0; o + m <= n; o++) {
        int64_t c = 0, e = 1;
        for (int k = 0; k < m; k++) { c += x[o + k] * t[k]; e += x[o + k] * x[o + k]; }
        int64_t v = c / (e >> 20 ? e >> 20 : 1);
        if (v > bv) { bv = v; best = o; }
    }
    return best;
}
void isqrt_vec(int n, const uint32_t v[n], uint16_t r[n])
{
    for (int i = 0; i < n; i++) {
        uint32_t op = v[i], res = 0, one = 1uL << 30;
        while (one > op) one >>= 2;
        while (one != 0) {
            if (op >= res + one) { op -= res + one; res += 2 * one; }
            res >>= 1; one >>= 2;
        }
        r[i] = res;
    }
}
void div_q16(int n, const int32_t a[n], const int32_t b[n], int32_t q[n])
{
    for (int i = 0; i < n; i++) q[i] = b[i] ? (int32_t)(((int64_t)a[i] << 16) / b[i]) : 0x7fffffff;
}
void log2_fix(int n, const uint32_t x[n], int32_t y[n])
{
    for (int i = 0; i < n; i++) {
        uint32_t v = x[i] | 1; int32_t r = 0;
        while (v >= 2u << 16) { v >>= 1; r += 65536; }
        while (v < 1u << 16) { v <<= 1; r -= 65536; }
        uint64_t z = v;
        for (uint32_t b = 1u << 15; b; b >>= 1) { z = z * z >> 16; if (z >= 2u << 16) { z >>= 1; r += b; } }
        y[i] = r;
    }
}
void popcounts(int n, const uint64_t v[n], uint8_t c[n], int8_t z[n])
{
    for (int i = 0; i < n; i++) {
        uint64_t t = v[i]; int k = 0;
        while (t) { t &= t - 1; k++; }
        c[i] = k;
        t = v[i]; k = 64;
        for (int s = 32; s; s >>= 1) if (t >> s) { k -= s; t >>= s; }
        z[i] = k - (int)t;
    }
}
void nlms_delay_line(int n, const int16_t x[n], const int16_t d[n], int16_t e[n])
{
    enum { N = 8 };
    int16_t w[N] = { 0 }, dl[N] = { 0 };
    for (int i = 0; i < n; i++) {
        for (int k = N - 1; k > 0; k--) dl[k] = dl[k - 1];
        dl[0] = x[i];
        int32_t y = 0, pw = 1;
        for (int k = 0; k < N; k++) { y += w[k] * dl[k]; pw += dl[k] * dl[k] >> 8; }
        e[i] = d[i] - (y >> 15);
        int32_t g = (e[i] << 8) / pw;
        for (int k = 0; k < N; k++) w[k] += (g * dl[k]) >> 6;
    }
}
int tokens(int n, const uint8_t s[n], uint8_t kinds[n])
{
    int i = 0, k = 0;
    while (i < n) {
        uint8_t c = s[i];
        if (c >= '0' && c <= '9') { kinds[k++] = 1; while (i < n && s[i] >= '0' && s[i] <= '9') i++; }
        else if ((c | 32) >= 'a' && (c | 32) <= 'z') { kinds[k++] = 2; do i++; while (i < n && ((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z')); }
        else if (c <= ' ') i++;
        else { kinds[k++] = c; ++i; }
    }
    return k;
}
void knn(int n, int m, const int16_t pts[n][3], const int16_t q[m][3], uint8_t best[m])
{
    for (int j = 0; j < m; j++) {
        int32_t bd = INT32_MAX;
        for (int i = 0; i < n; i++) {
            int32_t d = 0;
            for (int k = 0; k < 3; k++) { int32_t t = pts[i][k] - q[j][k]; d += t * t; }
            if (d < bd) bd = d, best[j] = i;
        }
    }
}
void pool_strided(int C, int H, int W, const int8_t in[C * H * W], int k, int s, int8_t out[C * ((H - k) / s + 1) * ((W - k) / s + 1)])
{
    int OH = (H - k) / s + 1, OW = (W - k) / s + 1;
    for (int c = 0; c < C; c++)
        for (int oy = 0; oy < OH; oy++)
            for (int ox = 0; ox < OW; ox++) {
                int8_t m = -128;
                for (int y = oy * s; y < oy * s + k; y++)
                    for (int x = ox * s; x < ox * s + k; x++)
                        if (in[(c * H + y) * W + x] > m) m = in[(c * H + y) * W + x];
                out[(c * OH + oy) * OW + ox] = m;
            }
}
void dwconv(int C, int H, int W, const int8_t in[H * W * C], const int8_t wt[9 * C], const int32_t bias[C], int8_t out[H * W * C])
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < C; c++) {
                int32_t acc = bias[c];
                for (int ky = 0; ky < 3; ky++) {
                    const int iy = y + ky - 1;
                    for (int kx = 0; kx < 3; kx++) {
                        const int ix = x + kx - 1;
                        if (iy >= 0 && iy < H && ix >= 0 && ix < W)
                            acc += in[(iy * W + ix) * C + c] * wt[(ky * 3 + kx) * C + c];
                    }
                }
                acc = (int32_t)(((int64_t)acc * 1518500250 + (1ll << 37)) >> 38);
                if (acc > 127) acc = 127;
                if (acc < -128) acc = -128;
                out[(y * W + x) * C + c] = acc;
            }
}
void dense_relu(int nin, int nout, const int8_t x[nin], const int8_t w[nout * nin], const int32_t b[nout], uint8_t y[nout])
{
    for (int o = 0; o < nout; o++) {
        int32_t s = b[o];
        for (int i = 0; i < nin; i++) s += (x[i] - 3) * w[o * nin + i];
        s >>= 8;
        y[o] = s < 0 ? 0 : s > 255 ? 255 : s;
    }
}
void softmax_fix(int n, const int16_t x[n], uint16_t p[n])
{
    int16_t mx = INT16_MIN; uint32_t sum = 0;
    uint32_t ex[64];
    for (int i = 0; i < n; i++) if (x[i] > mx) mx = x[i];
    for (int i = 0; i < n; i++) {
        int sh = (mx - x[i]) >> 7;
        ex[i] = sh > 24 ? 0 : (1u << 24) >> sh;
        sum += ex[i] >> 8;
    }
    for (int i = 0; i < n; i++) p[i] = (uint16_t)(((uint64_t)ex[i] * 65535 / sum) >> 8);
}
void resample_lin(int n, int m, const int16_t x[n], int16_t y[m])
{
    uint32_t pos = 0, step = (uint32_t)(((uint64_t)(n - 1) << 16) / m);
    for (int i = 0; i < m; i++, pos += step) {
        uint32_t k = pos >> 16; int32_t f = pos & 0xffff;
        y[i] = x[k] + (int16_t)(((int64_t)(x[k + 1] - x[k]) * f) >> 16);
    }
}
typedef struct chan { int16_t v[4]; } chan_t;
void ema_struct(int n, const chan_t ch[n], chan_t out[n])
{
    struct { int32_t acc[4]; const char pad; } s = { { 0 } };
    for (int i = 0; i < n; i++) {
        chan_t o;
        for (size_t c = 0; c < sizeof o.v / sizeof o.v[0]; c++) {
            s.acc[c] += (ch[i].v[c] - (s.acc[c] >> 6));
            o.v[c] = s.acc[c] >> 6;
        }
        out[i] = o;
    }
}
typedef struct { int32_t type, a, b; } event_t;
static int32_t add_(int32_t a, int32_t b) { return a + b; }
void event_log(int n, const event_t ev[n], int32_t cnt[9])
{
    for (const event_t *e = ev; e - ev < n; e++) {
        int t = e->type;
        if (t < 0) t += 9;
        switch (t % 4) {
        case 0: cnt[t] += e->a; /* fall through */
        case 1: cnt[t] ^= e->b; break;
        case 2: { int k = e->a & 7; cnt[k] = add_(cnt[k], e->b); } break;
        default: cnt[8]--;
        }
    }
}
void u8_steps(uint8_t n, const uint8_t x[n], uint8_t y[n])
{
    for (uint8_t i = 0; i < n; i += 2) y[i] = x[i] + 1;
    for (uint8_t i = 1; i < n; i += 2) y[i] = x[i] - 1;
}
void u16_le(uint16_t n, const uint16_t x[n + 1], uint16_t y[n + 1])
{
    for (uint16_t i = 0; i <= n; i++) y[i] = x[i] * 3 + i;
}
