// run: switches(n=14, code=uint8[14]%9, stack=int64[8]=0)
#include <stdint.h>
#define BINARY(op) { int64_t b = stack[--sp]; stack[sp - 1] = stack[sp - 1] op b; break; }
int64_t switches(int n, const uint8_t code[n], int64_t stack[8])
{
    int sp = 2, pc = 0, fuel = 60;
    stack[0] = 3; stack[1] = 4;
    while (pc < n && fuel-- > 0) {
        switch (code[pc++]) {
        case 0: if (sp < 8) stack[sp++] = pc * 11; break;
        case 1: if (sp > 1) BINARY(+) else break;
        case 2: if (sp > 1) BINARY(-) else break;
        case 3: if (sp > 1) BINARY(*) else break;
        case 4: if (sp > 0 && sp < 8) { stack[sp] = stack[sp - 1]; sp++; } break;
        case 5: if (sp > 0 && stack[sp - 1] & 1) { stack[sp - 1] >>= 1; pc = 0; } break;
        case 6: switch (sp) { case 0: case 1: break; default: { int64_t t = stack[0]; stack[0] = stack[sp - 1]; stack[sp - 1] = t; } } break;
        default: return -fuel;
        }
    }
    return sp ? stack[sp - 1] : 0;
}
