// run: sobel(W=24, H=18, img=uint8[18,24], out=uint8[18,24]=0)
// run: sobel(W=3, H=3, img=uint8[3,3], out=uint8[3,3]=0)
// run: sobel(W=1, H=1, img=uint8[1,1], out=uint8[1,1]=0)
// run: median3(W=20, H=16, img=uint8[320], out=uint8[320]=0)
// run: median3(W=2, H=2, img=uint8[4], out=uint8[4]=0)
// run: erode_dilate(w=22, h=14, src=uint8[308], tmp=uint8[308]=0, dst=uint8[308]=0)
// run: erode_dilate(w=1, h=1, src=uint8[1], tmp=uint8[1]=0, dst=uint8[1]=0)
// run: erode_dilate(w=0, h=0, src=uint8[0], tmp=uint8[0]=0, dst=uint8[0]=0)
// run: rgb_to_yuv(npix=60, rgb=uint8[60,3], y=uint8[60]=0, u=uint8[60]=0, v=uint8[60]=0)
// run: rgb_to_yuv(npix=1, rgb=uint8[1,3], y=uint8[1]=0, u=uint8[1]=0, v=uint8[1]=0)
// run: rgb_to_yuv(npix=0, rgb=uint8[0,3], y=uint8[0]=0, u=uint8[0]=0, v=uint8[0]=0)
// run: yuyv_to_rgb565(npairs=40, yuyv=uint8[160], out=uint16[80]=0)
// run: yuyv_to_rgb565(npairs=0, yuyv=uint8[0], out=uint16[0]=0)
// run: blend_argb(n=50, dst=uint32[50], src=uint32[50])
// run: blend_argb(n=1, dst=uint32[1], src=uint32[1])
// run: blend_argb(n=0, dst=uint32[0], src=uint32[0])
// run: blend565(n=50, dst=uint16[50], src=uint16[50], a=uint8[50]%31)
// run: motion(w=32, cur=uint8[256], ref=uint8[1024], best_dx=0, mv=int16[2]=0)
// run: idct8x8(nblk=3, coef=int16[3,64]%600, q=uint8[64]%30, pix=uint8[3,8,8]=0)
// run: idct8x8(nblk=0, coef=int16[0,64]%600, q=uint8[64]%30, pix=uint8[0,8,8]=0)
// run: dct_zigzag(blk=int16[64]%255, zz=int16[64]=0)
// run: rle_zz(n=64, zz=int16[64]%2, out=int16[128]=0)
// run: rle_zz(n=1, zz=int16[1]%2, out=int16[2]=0)
// run: rle_zz(n=0, zz=int16[0]%2, out=int16[2]=0)
// run: histeq(n=200, px=uint8[200], lut=uint8[256]=0)
// run: histeq(n=1, px=uint8[1], lut=uint8[256]=0)
// run: bilinear(sw=12, sh=10, dw=19, dh=15, src=uint8[120], dst=uint8[285]=0)
// run: bayer(w=16, h=12, raw=uint16[192]%1023, rgb=uint16[192,3]=0)
// run: threshold_otsu(n=300, px=uint8[300])
// run: threshold_otsu(n=0, px=uint8[0])
// run: box_integral(w=20, h=12, src=uint8[240], sum=uint32[273]=0, r=2, dst=uint8[240]=0)
// run: box_integral(w=1, h=1, src=uint8[1], sum=uint32[4]=0, r=2, dst=uint8[1]=0)
// run: floyd_steinberg(w=20, h=10, img=int16[200]%255)
// run: floyd_steinberg(w=1, h=1, img=int16[1]%255)
// run: rotate90(w=14, h=9, src=uint16[126], dst=uint16[126]=0)
// run: rotate90(w=0, h=0, src=uint16[0], dst=uint16[0]=0)
// run: flip_inplace(w=15, h=8, p=uint8[120])
// run: flip_inplace(w=1, h=1, p=uint8[1])
// run: mirror_border(n=50, x=int16[50], taps=5, h=int16[5]%500, y=int16[50]=0)
#include <stdint.h>
#include <stdlib.h>
#include <stdbool.h>
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef int16_t s16; typedef int32_t s32;
#define PIX(p, x, y, stride) ((p)[(y) * (stride) + (x)])
#define MIN2(a,b) (((a)<(b))?(a):(b))
#define MAX2(a,b) (((a)>(b))?(a):(b))
#define CLAMP255(v) ((v) < 0 ? 0 : (v) > 255 ? 255 : (v))
static const s16 gx[3][3] = { {-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1} };
static const s16 gy[3][3] = { {-1, -2, -1}, {0, 0, 0}, {1, 2, 1} };
void sobel(int W, int H, const u8 img[H][W], u8 out[H][W])
{
    for (int y = 1; y < H - 1; ++y)
        for (int x = 1; x < W - 1; ++x) {
            int sx = 0, sy = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++) {
                    sx += gx[j + 1][i + 1] * img[y + j][x + i];
                    sy += gy[j + 1][i + 1] * img[y + j][x + i];
                }
            int m = abs(sx) + abs(sy);
            out[y][x] = m > 255 ? 255 : m;
        }
}
#define CSWAP(a, b) { u8 lo_ = MIN2(a, b), hi_ = MAX2(a, b); (a) = lo_; (b) = hi_; }
void median3(u16 W, u16 H, const u8 img[W * H], u8 out[W * H])
{
    for (u16 y = 1; y + 1 < H; y++) {
        const u8 *r0 = img + (y - 1) * W, *r1 = r0 + W, *r2 = r1 + W;
        for (u16 x = 1; x + 1 < W; x++) {
            u8 p[9] = { r0[x-1], r0[x], r0[x+1], r1[x-1], r1[x], r1[x+1], r2[x-1], r2[x], r2[x+1] };
            CSWAP(p[1], p[2]) CSWAP(p[4], p[5]) CSWAP(p[7], p[8]) CSWAP(p[0], p[1]) CSWAP(p[3], p[4])
            CSWAP(p[6], p[7]) CSWAP(p[1], p[2]) CSWAP(p[4], p[5]) CSWAP(p[7], p[8]) CSWAP(p[0], p[3])
            CSWAP(p[5], p[8]) CSWAP(p[4], p[7]) CSWAP(p[3], p[6]) CSWAP(p[1], p[4]) CSWAP(p[2], p[5])
            CSWAP(p[4], p[7]) CSWAP(p[4], p[2]) CSWAP(p[6], p[4]) CSWAP(p[4], p[2])
            out[y * W + x] = p[4];
        }
    }
}
static u8 morph(const u8 *p, int w, int h, int x, int y, bool dil)
{
    u8 acc = dil ? 0 : 255;
    for (int dy = -1; dy <= 1; dy++) {
        int yy = y + dy;
        if (yy < 0 || yy >= h) continue;
        for (int dx = -1; dx <= 1; dx++) {
            int xx = x + dx;
            if (xx < 0 || xx >= w) continue;
            u8 v = PIX(p, xx, yy, w);
            acc = dil ? MAX2(acc, v) : MIN2(acc, v);
        }
    }
    return acc;
}
void erode_dilate(int w, int h, const u8 src[w * h], u8 tmp[w * h], u8 dst[w * h])
{
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) PIX(tmp, x, y, w) = morph(src, w, h, x, y, false);
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) PIX(dst, x, y, w) = morph(tmp, w, h, x, y, true);
}
void rgb_to_yuv(u32 npix, const struct { u8 r, g, b; } rgb[npix], u8 y[npix], u8 u[npix], u8 v[npix])
{
    u32 i;
    for (i = 0; i < npix; i++) {
        const int R = rgb[i].r, G = rgb[i].g, B = rgb[i].b;
        y[i] = ((66 * R + 129 * G + 25 * B + 128) >> 8) + 16;
        u[i] = ((-38 * R - 74 * G + 112 * B + 128) >> 8) + 128;
        v[i] = ((112 * R - 94 * G - 18 * B + 128) >> 8) + 128;
    }
}
static inline u16 pack565(s32 r, s32 g, s32 b)
{
    r = CLAMP255(r); g = CLAMP255(g); b = CLAMP255(b);
    return (u16)(((r & 0xF8) << 8) | ((g & 0xFC) << 3) | (b >> 3));
}
void yuyv_to_rgb565(u32 npairs, const u8 yuyv[4 * npairs], u16 out[2 * npairs])
{
    const u8 *p = yuyv; u16 *q = out;
    const u8 *const end = yuyv + 4 * npairs;
    for (; p < end; p += 4) {
        s32 c0 = (p[0] - 16) * 298, d = p[1] - 128, c1 = (p[2] - 16) * 298, e = p[3] - 128;
        s32 rr = 409 * e + 128, gg = -100 * d - 208 * e + 128, bb = 516 * d + 128;
        *q++ = pack565((c0 + rr) >> 8, (c0 + gg) >> 8, (c0 + bb) >> 8);
        *q++ = pack565((c1 + rr) >> 8, (c1 + gg) >> 8, (c1 + bb) >> 8);
    }
}
void blend_argb(int n, u32 dst[n], const u32 src[n])
{
    for (int i = 0; i < n; i++) {
        u32 s = src[i], d = dst[i], a = s >> 24, ia = 255 - a;
        u32 rb = ((s & 0xff00ff) * a + (d & 0xff00ff) * ia) >> 8 & 0xff00ff;
        u32 ag = ((s >> 8 & 0xff00ff) * a + (d >> 8 & 0xff00ff) * ia) & 0xff00ff00;
        dst[i] = rb | ag;
    }
}
void blend565(int n, u16 dst[n], const u16 src[n], const u8 a[n])
{
    for (int i = 0; i < n; i++) {
        u32 s = src[i], d = dst[i];
        s = (s | s << 16) & 0x7e0f81f; d = (d | d << 16) & 0x7e0f81f;
        d += (s - d) * a[i] >> 5; d &= 0x7e0f81f;
        dst[i] = (u16)(d | d >> 16);
    }
}
static u32 sad16(const u8 *a, int sa, const u8 *b, int sb, u32 limit)
{
    u32 s = 0;
    for (int y = 0; y < 16; y++, a += sa, b += sb) {
        for (int x = 0; x < 16; x++) s += abs(a[x] - b[x]);
        if (s >= limit) return s;
    }
    return s;
}
u32 motion(int w, const u8 cur[256], const u8 ref[w * 32], int best_dx, s16 mv[2])
{
    u32 best = ~0u;
    for (int dy = 0; dy <= 8; dy += 2)
        for (int dx = best_dx; dx <= 8; dx += 2) {
            u32 s = sad16(cur, 16, ref + dy * w + dx, w, best);
            if (s < best) { best = s; mv[0] = dx; mv[1] = dy; }
        }
    return best;
}
static const u8 zz_order[64] = { 0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41,
    34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45,
    38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63 };
#define W1 2841
#define W2 2676
#define W3 2408
#define W5 1609
#define W6 1108
#define W7 565
static void idct_row(s32 *b)
{
    s32 x0 = (b[0] << 11) + 128, x1 = b[4] << 11, x2 = b[6], x3 = b[2], x4 = b[1], x5 = b[7], x6 = b[5], x7 = b[3], x8;
    if (!((x1) | x2 | x3 | x4 | x5 | x6 | x7)) {
        b[0] = b[1] = b[2] = b[3] = b[4] = b[5] = b[6] = b[7] = b[0] << 3;
        return;
    }
    x8 = W7 * (x4 + x5); x4 = x8 + (W1 - W7) * x4; x5 = x8 - (W1 + W7) * x5;
    x8 = W3 * (x6 + x7); x6 = x8 - (W3 - W5) * x6; x7 = x8 - (W3 + W5) * x7;
    x8 = x0 + x1; x0 -= x1;
    x1 = W6 * (x3 + x2); x2 = x1 - (W2 + W6) * x2; x3 = x1 + (W2 - W6) * x3;
    x1 = x4 + x6; x4 -= x6; x6 = x5 + x7; x5 -= x7;
    x7 = x8 + x3; x8 -= x3; x3 = x0 + x2; x0 -= x2;
    x2 = (181 * (x4 + x5) + 128) >> 8; x4 = (181 * (x4 - x5) + 128) >> 8;
    b[0] = (x7 + x1) >> 8; b[1] = (x3 + x2) >> 8; b[2] = (x0 + x4) >> 8; b[3] = (x8 + x6) >> 8;
    b[4] = (x8 - x6) >> 8; b[5] = (x0 - x4) >> 8; b[6] = (x3 - x2) >> 8; b[7] = (x7 - x1) >> 8;
}
static void idct_col(s32 *b)
{
    s32 x0 = (b[0] << 8) + 8192, x1 = b[8*4] << 8, x2 = b[8*6], x3 = b[8*2], x4 = b[8], x5 = b[8*7], x6 = b[8*5], x7 = b[8*3], x8;
    x8 = W7 * (x4 + x5) + 4; x4 = (x8 + (W1 - W7) * x4) >> 3; x5 = (x8 - (W1 + W7) * x5) >> 3;
    x8 = W3 * (x6 + x7) + 4; x6 = (x8 - (W3 - W5) * x6) >> 3; x7 = (x8 - (W3 + W5) * x7) >> 3;
    x8 = x0 + x1; x0 -= x1;
    x1 = W6 * (x3 + x2) + 4; x2 = (x1 - (W2 + W6) * x2) >> 3; x3 = (x1 + (W2 - W6) * x3) >> 3;
    x1 = x4 + x6; x4 -= x6; x6 = x5 + x7; x5 -= x7;
    x7 = x8 + x3; x8 -= x3; x3 = x0 + x2; x0 -= x2;
    x2 = (181 * (x4 + x5) + 128) >> 8; x4 = (181 * (x4 - x5) + 128) >> 8;
    b[0] = (x7 + x1) >> 14; b[8] = (x3 + x2) >> 14; b[16] = (x0 + x4) >> 14; b[24] = (x8 + x6) >> 14;
    b[32] = (x8 - x6) >> 14; b[40] = (x0 - x4) >> 14; b[48] = (x3 - x2) >> 14; b[56] = (x7 - x1) >> 14;
}
void idct8x8(int nblk, const s16 coef[nblk][64], const u8 q[64], u8 pix[nblk][8][8])
{
    for (int n = 0; n < nblk; n++) {
        s32 b[64];
        for (int i = 0; i < 64; i++) b[zz_order[i]] = coef[n][i] * q[i];
        for (int i = 0; i < 64; i += 8) idct_row(b + i);
        for (int i = 0; i < 8; i++) idct_col(&b[i]);
        for (int i = 0; i < 64; i++) { s32 v = b[i] + 128; pix[n][i >> 3][i & 7] = CLAMP255(v); }
    }
}
static const s16 cosq[8][8] = {
 { 2896, 2896, 2896, 2896, 2896, 2896, 2896, 2896 }, { 4017, 3406, 2276, 799, -799, -2276, -3406, -4017 },
 { 3784, 1567, -1567, -3784, -3784, -1567, 1567, 3784 }, { 3406, -799, -4017, -2276, 2276, 4017, 799, -3406 },
 { 2896, -2896, -2896, 2896, 2896, -2896, -2896, 2896 }, { 2276, -4017, 799, 3406, -3406, -799, 4017, -2276 },
 { 1567, -3784, 3784, -1567, -1567, 3784, -3784, 1567 }, { 799, -2276, 3406, -4017, 4017, -3406, 2276, -799 } };
void dct_zigzag(const s16 blk[64], s16 zz[64])
{
    s32 t[8][8];
    s16 f[64];
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++) {
            s32 a = 0;
            for (int k = 0; k < 8; k++) a += cosq[u][k] * blk[k * 8 + x];
            t[u][x] = (a + 1024) >> 11;
        }
    for (int u = 0; u < 8; u++)
        for (int v = 0; v < 8; v++) {
            s32 a = 0;
            for (int k = 0; k < 8; k++) a += cosq[v][k] * t[u][k];
            f[u * 8 + v] = (a + 8192) >> 14;
        }
    for (int i = 0; i < 64; i++) zz[i] = f[zz_order[i]];
}
int rle_zz(int n, const s16 zz[n], s16 out[2 * n + 2 - 2 * (n > 0)])
{
    int run = 0, o = 0;
    for (int i = 0; i < n; i++) {
        if (zz[i] == 0) { run++; continue; }
        while (run > 15) { out[o++] = 15; out[o++] = 0; run -= 16; }
        out[o++] = run; out[o++] = zz[i];
        run = 0;
    }
    return o;
}
void histeq(int n, const u8 px[n], u8 lut[256])
{
    u32 h[256] = { 0 };
    for (int i = 0; i < n; i++) ++h[px[i]];
    u32 acc = 0, cmin = 0;
    for (int i = 0; i < 256; i++) if (h[i]) { cmin = h[i]; break; }
    for (int i = 0; i < 256; i++) {
        acc += h[i];
        lut[i] = (u32)n == cmin || acc < cmin ? 0 : ((acc - cmin) * 255 + ((u32)n - cmin) / 2) / ((u32)n - cmin);
    }
}
void bilinear(int sw, int sh, int dw, int dh, const u8 src[sw * sh], u8 dst[dw * dh])
{
    int xr = ((sw - 1) << 16) / dw, yr = ((sh - 1) << 16) / dh, o = 0;
    for (int i = 0; i < dh; i++) {
        int yy = yr * i, y = yy >> 16, fy = (yy & 0xffff) >> 8;
        for (int j = 0; j < dw; j++) {
            int xx = xr * j, x = xx >> 16, fx = (xx & 0xffff) >> 8, idx = y * sw + x;
            int A = src[idx], B = src[idx + 1], C = src[idx + sw], D = src[idx + sw + 1];
            dst[o++] = (A * (256 - fx) * (256 - fy) + B * fx * (256 - fy) + C * (256 - fx) * fy + D * fx * fy) >> 16;
        }
    }
}
void bayer(int w, int h, const u16 raw[w * h], struct rgb16 { u16 r, g, b; } rgb[w * h])
{
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            const u16 *p = &raw[y * w + x];
            struct rgb16 c;
            u16 cross = (p[-1] + p[1] + p[-w] + p[w]) >> 2, diag = (p[-w - 1] + p[-w + 1] + p[w - 1] + p[w + 1]) >> 2;
            u16 hor = (p[-1] + p[1]) >> 1, ver = (p[-w] + p[w]) >> 1;
            switch ((y & 1) << 1 | (x & 1)) {
            case 0: c.r = *p; c.g = cross; c.b = diag; break;
            case 1: c.g = *p; c.r = hor; c.b = ver; break;
            case 2: c.g = *p; c.r = ver; c.b = hor; break;
            default: c.b = *p; c.g = cross; c.r = diag;
            }
            rgb[y * w + x] = c;
        }
}
int threshold_otsu(int n, const u8 px[n])
{
    u32 hist[256] = { 0 };
    for (int i = 0; i < n; i++) hist[px[i]]++;
    u32 sum = 0, sumB = 0, wB = 0; uint64_t best = 0; int thr = 0;
    for (int i = 0; i < 256; i++) sum += i * hist[i];
    for (int t = 0; t < 256; t++) {
        wB += hist[t];
        if (wB == 0) continue;
        u32 wF = n - wB;
        if (wF == 0) break;
        sumB += t * hist[t];
        s32 mB = sumB / wB, mF = (sum - sumB) / wF;
        uint64_t between = (uint64_t)wB * wF * (uint64_t)((mB - mF) * (mB - mF));
        if (between > best) { best = between; thr = t; }
    }
    return thr;
}
void box_integral(int w, int h, const u8 src[w * h], u32 sum[(w + 1) * (h + 1)], int r, u8 dst[w * h])
{
    const int s = w + 1;
    for (int y = 0; y < h; y++) {
        u32 row = 0;
        for (int x = 0; x < w; x++) {
            row += src[y * w + x];
            sum[(y + 1) * s + x + 1] = sum[y * s + x + 1] + row;
        }
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int x0 = MAX2(x - r, 0), x1 = MIN2(x + r + 1, w), y0 = MAX2(y - r, 0), y1 = MIN2(y + r + 1, h);
            u32 t = sum[y1 * s + x1] - sum[y1 * s + x0] - sum[y0 * s + x1] + sum[y0 * s + x0];
            dst[y * w + x] = t / ((x1 - x0) * (y1 - y0));
        }
}
void floyd_steinberg(int w, int h, s16 img[w * h])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            s16 old = img[y * w + x], nw = old < 128 ? 0 : 255, e = old - nw;
            img[y * w + x] = nw;
            if (x + 1 < w) img[y * w + x + 1] += e * 7 >> 4;
            if (y + 1 < h) {
                if (x > 0) img[(y + 1) * w + x - 1] += e * 3 >> 4;
                img[(y + 1) * w + x] += e * 5 >> 4;
                if (x + 1 < w) img[(y + 1) * w + x + 1] += e >> 4;
            }
        }
}
void rotate90(int w, int h, const u16 src[w * h], u16 dst[w * h])
{
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) dst[x * h + (h - 1 - y)] = src[y * w + x];
}
void flip_inplace(int w, int h, u8 p[w * h])
{
    for (int y = 0; y < h; y++) {
        u8 *l = p + y * w, *r = l + w - 1;
        while (l < r) { u8 t = *l; *l++ = *r; *r-- = t; }
    }
}
void mirror_border(int n, const s16 x[n], int taps, const s16 h[taps], s16 y[n])
{
    for (int i = 0; i < n; i++) {
        s32 a = 0;
        for (int k = 0; k < taps; k++) {
            int j = i + k - taps / 2;
            if (j < 0) j = -j;
            if (j >= n) j = 2 * n - 2 - j;
            a += x[j] * h[k];
        }
        y[i] = a >> 10;
    }
}
