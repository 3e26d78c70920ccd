// run: mixed(n=9, out=int64[9]=0)
#include <stdint.h>
struct item { int8_t tag; int64_t value; uint16_t w[2]; };
static struct item store[5] = { { 1, 2, { 3, 4 } }, [3] = { .w = { 7 } } };
static int64_t sum(const struct item *p, int n) { int64_t s = 0; while (n-- > 0) { s += p->tag * p->value + p->w[n & 1]; p++; } return s; }
int64_t mixed(int n, int64_t *out)
{
    struct item *p = store;
    for (int i = 0; i < n; i++) {
        p = &store[i * 3 % 5];
        p->tag += i;
        p->value = p->value * 3 - i;
        p->w[i & 1] ^= 5 * i;
        struct item copy = *p;
        copy.tag = -copy.tag;
        store[(i + 2) % 5] = copy;
        uint16_t *w = store[i % 5].w;
        w[1] += 2;
        out[i] = sum(store, 5) + (p - store);
    }
    return sizeof(struct item) * 100 + _Alignof(struct item) + sum(store + 1, 2);
}
