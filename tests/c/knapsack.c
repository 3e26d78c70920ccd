// run: knapsack(n=6, room=20, weight=uint8[6]%9, value=uint16[6]%100, best=uint32[21]=0)
#include <stdint.h>
unsigned knapsack(int n, int room, const uint8_t weight[n], const uint16_t value[n], uint32_t best[room + 1])
{
    for (int i = 0; i < n; i++)
        for (int r = room; r >= weight[i]; r--) {
            uint32_t with = best[r - weight[i]] + value[i];
            best[r] = with > best[r] ? with : best[r];
        }
    return best[room];
}
