// run: life(rounds=3, board=uint8[8,8]%1)
#include <string.h>
enum { H = 8, W = 8 };
int life(int rounds, unsigned char board[H][W])
{
    unsigned char next[H][W];
    int alive = 0;
    for (; rounds > 0; rounds--) {
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                int count = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        if (dy || dx) count += board[(y + dy + H) % H][(x + dx) & (W - 1)];
                next[y][x] = count == 3 || (count == 2 && board[y][x]);
            }
        memcpy(board, next, sizeof next);
    }
    for (unsigned char *p = board[0]; p < &board[H - 1][W]; p++) alive += *p;
    return alive;
}
