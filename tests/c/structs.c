// run: structs(n=6, x=int16[6,2], y=int16[6,2], out=int32[6,2]=0)
#include <stdint.h>
typedef struct { int16_t re, im; } c16;
struct c32 { int32_t re; int32_t im; };
static struct c32 mul(c16 a, c16 b)
{
    struct c32 r;
    r.re = a.re * b.re - a.im * b.im;
    r.im = a.re * b.im + a.im * b.re;
    return r;
}
static struct c32 add(struct c32 a, struct c32 b)
{
    return (struct c32){ .im = a.im + b.im, .re = a.re + b.re };
}
int structs(int n, const c16 x[n], const c16 *y, struct c32 out[n])
{
    struct c32 acc = { 0 };
    for (int i = 0; i < n; i++) {
        struct c32 p = mul(x[i], y[n - 1 - i]);
        acc = add(acc, p);
        out[i] = acc;
        (&out[i])->re += 1;
    }
    return mul(x[0], y[0]).im + (n > 3 ? acc : out[0]).re;
}
