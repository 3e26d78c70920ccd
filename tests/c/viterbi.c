// run: viterbi(n=24, bits=uint8[24]%1, path=uint8[24]=0)
#include <stdint.h>
#define STATES 4
int viterbi(int n, const uint8_t bits[n], uint8_t path[n])
{
    int cost[2][STATES] = { { 0, 99, 99, 99 } };
    uint8_t from[32][STATES];
    int (*now)[STATES] = &cost[0], (*next)[STATES] = &cost[1];
    for (int t = 0; t < n; t++) {
        for (int s = 0; s < STATES; s++) {
            int p0 = s >> 1, p1 = p0 | 2, e = (s ^ (s >> 1)) & 1;
            int c0 = (*now)[p0] + (e != bits[t]), c1 = (*now)[p1] + (e == bits[t]);
            (*next)[s] = c0 <= c1 ? c0 : c1;
            from[t][s] = c0 <= c1 ? p0 : p1;
        }
        int (*swap)[STATES] = now; now = next; next = swap;
    }
    int s = 0;
    for (int i = 1; i < STATES; i++) if ((*now)[i] < (*now)[s]) s = i;
    int best = (*now)[s];
    for (int t = n - 1; t >= 0; t--) { path[t] = s; s = from[t][s]; }
    return best;
}
