// run: booleans(n=8, flags=uint8[8]%1, any=1, out=uint8[8]=0)
#include <stdbool.h>
struct both { bool a; _Bool b; };
static bool both(struct both v) { return v.a & v.b; }
bool booleans(int n, const bool flags[n], bool any, bool out[n])
{
    bool all = true, seen[3] = { false, true };
    for (int i = 0; i < n; i++) {
        all &= flags[i];
        any |= !flags[i];
        out[i] = both((struct both){ flags[i], i & 6 }) ^ seen[i % 3];
        seen[i % 3] = i * 256;
        any = any == flags[i] || (i > 4) > flags[i];
        all += 2;
    }
    return all && any ? &out[0] : 0;
}
