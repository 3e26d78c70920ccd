// run: prototypes(n=9, out=int32[9]=0)
#include <stdint.h>
#include <stdbool.h>
static bool is_prime(int);
int gcd(int a, int b);
static inline unsigned popcount(uint_fast32_t v);
static int_least16_t clip(long v);
extern int limit;
static int is_set(const int *p), pick(bool first, register int a, int b);
int prototypes(int n, int out[static n])
{
    for (int i = 0; i < n; i++) {
        bool prime = is_prime(i + 2);
        out[i] = prime * 1000 + gcd(i * 12, 30) * 10 + popcount(i * 77);
        out[i] += clip(i * 100000L) + pick(prime, i, -i) + is_set(i ? &out[i - 1] : 0);
    }
    return limit;
}
int limit = 42;
static bool is_prime(int v) { for (int d = 2; d * d <= v; ++d) if (v % d == 0) return false; return true; }
int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
static inline unsigned popcount(uint_fast32_t v) { unsigned c = 0; for (; v; v &= v - 1) c++; return c; }
static int_least16_t clip(long v) { return v > INT16_MAX ? INT16_MAX : v; }
static int is_set(const int *p) { return p && *p > 0; }
static int pick(bool first, register int a, int b) { if (first) return a; return b; }
