// A small byte-code machine: a dense switch in a loop (an indirect branch), divergent by lane.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_90:debug
// clang: sm_70 sm_70:O0
extern "C" __global__ void switch_table(const unsigned char* code, const int* starts, const int* inputs, int* results, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int stack[8], sp = 0, pc = starts[i % 4], count = 0;
    int x = inputs[i], acc = 0;
    while (count < 200) {
        unsigned char op = code[pc++];
        count++;
        if (op == 255) break;
        switch (op) {
            case 0: acc = x; break;
            case 1: acc += code[pc++]; break;
            case 2: acc -= code[pc++]; break;
            case 3: acc *= 3; break;
            case 4: acc ^= x << 3; break;
            case 5: stack[sp++ & 7] = acc; break;
            case 6: acc += stack[--sp & 7]; break;
            case 7: if (acc & 1) pc += (signed char)code[pc]; else pc++; break;
            case 8: if (acc < 0) acc = ~acc; break;
            case 9: acc = acc >> 2; break;
            case 10: x--; if (x > 0) pc += (signed char)code[pc]; else pc++; break;
            case 11: acc = -acc; break;
            default: acc = 0x7eadbeef; break;
        }
    }
    results[i] = acc;
    steps[i] = count;
}
