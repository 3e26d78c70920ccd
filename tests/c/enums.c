// run: enums(n=8, mode=2, in=int32[8]%3, out=int32[8]=0, flag=1)
// run: enums(n=8, mode=-1, in=int32[8]%3, out=int32[8]=0, flag=0)
#include <stdbool.h>
enum mode { OFF = -1, SLOW = 1, FAST };
typedef enum { NORTH, EAST, SOUTH, WEST, DIRECTIONS } direction;
static direction turn(direction d, int by) { return (d + by + DIRECTIONS) % DIRECTIONS; }
int enums(int n, enum mode mode, const int in[n], int out[n], bool flag)
{
    direction d = NORTH;
    int x = 0, y = 0;
    for (int i = 0; i < n; i++) {
        d = turn(d, in[i]);
        switch (d) {
        case NORTH: y += mode; break;
        case SOUTH: y -= mode; break;
        case EAST: x += mode; break;
        case WEST: x -= mode;
        case DIRECTIONS: break;
        }
        out[i] = (d << 8) + x * 10 + y + flag;
    }
    return mode == OFF ? -x : mode > SLOW;
}
