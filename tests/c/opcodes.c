// run: execute(n=40, op=uint8[40], a=int16[40], b=int16[40], y=int32[40]=0)
// run: execute(n=0, op=uint8[0], a=int16[0], b=int16[0], y=int32[0]=0)
// run: execute(n=1, op=uint8[1], a=int16[1], b=int16[1], y=int32[1]=0)
// run: fields(n=60, s=uint8[60]%25, out=int32[60]=0)
// run: scan(n=200, s=uint8[200]%127)
// run: wide(n=30, key=int64[30]%9, y=int64[30]=0)
#include <stdint.h>

void execute(int n, const uint8_t op[n], const int16_t a[n], const int16_t b[n], int32_t y[n])
{
    for (int i = 0; i < n; i++) {
        int32_t r;
        switch (op[i] & 7) {
        case 0: r = a[i] + b[i]; break;
        case 1: r = a[i] - b[i]; break;
        case 2: r = a[i] & b[i]; break;
        case 3: r = a[i] | b[i]; break;
        case 4: r = a[i] ^ b[i]; break;
        case 5: r = a[i] * b[i]; break;
        default: r = a[i]; break;
        }
        y[i] = r;
    }
}

int fields(int n, const uint8_t s[n], int32_t out[n])
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int v = 0;
        switch (s[i]) {
        case 10: v += 1;
        case 11: v += 2;
        case 12: v += 4; break;
        case 13: v = 100; break;
        case 15: continue;
        case 16: v = -1; sum++; break;
        case 20: sum += 3;
        default: v = s[i];
        }
        out[i] = v;
        sum += v;
    }
    return sum;
}

int scan(int n, const uint8_t s[n])
{
    enum { BETWEEN, WORD, NUMBER, QUOTED, BAD } state = BETWEEN;
    int words = 0, numbers = 0;
    for (int i = 0; i < n; i++) {
        uint8_t c = s[i];
        switch (state) {
        case BETWEEN:
            if (c >= 'a' && c <= 'z') {
                state = WORD;
                words++;
            } else if (c >= '0' && c <= '9') {
                state = NUMBER;
                numbers++;
            } else if (c == '"') {
                state = QUOTED;
            }
            break;
        case WORD: if (c == ' ') state = BETWEEN; break;
        case NUMBER: if (c < '0' || c > '9') state = c == ' ' ? BETWEEN : BAD; break;
        case QUOTED: if (c == '"') state = BETWEEN; break;
        case BAD: if (c < 48) state = BETWEEN; break;
        }
    }
    return words * 1000 + numbers;
}

void wide(int n, const int64_t key[n], int64_t y[n])
{
    for (int i = 0; i < n; i++)
        switch (key[i]) {
        case -2: y[i] = key[i] << 33; break;
        case -1: y[i] = 5; break;
        case 0: y[i] = -key[i] * i; break;
        case 1: case 2: y[i] = i; break;
        case 3: y[i] = 1; /* and no more */
        }
}
