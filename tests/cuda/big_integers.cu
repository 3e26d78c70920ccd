// 256-bit addition, subtraction and multiplication with carry chains in inline PTX.
// targets: 12.9:compute_80 11.8:compute_52
// host: no
extern "C" __global__ void big_integers(const unsigned* a, const unsigned* b, unsigned* sum, unsigned* difference, unsigned* product, unsigned* flags, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x[8], y[8], s[8], d[8], carry, borrow;
    for (int k = 0; k < 8; k++) {
        x[k] = a[8 * i + k];
        y[k] = b[8 * i + k];
    }
    asm("add.cc.u32 %0, %9, %17;\n\taddc.cc.u32 %1, %10, %18;\n\taddc.cc.u32 %2, %11, %19;\n\taddc.cc.u32 %3, %12, %20;\n\t"
        "addc.cc.u32 %4, %13, %21;\n\taddc.cc.u32 %5, %14, %22;\n\taddc.cc.u32 %6, %15, %23;\n\taddc.cc.u32 %7, %16, %24;\n\t"
        "addc.u32 %8, 0, 0;"
        : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]), "=r"(s[4]), "=r"(s[5]), "=r"(s[6]), "=r"(s[7]), "=r"(carry)
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]), "r"(y[1]), "r"(y[2]),
          "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    asm("sub.cc.u32 %0, %9, %17;\n\tsubc.cc.u32 %1, %10, %18;\n\tsubc.cc.u32 %2, %11, %19;\n\tsubc.cc.u32 %3, %12, %20;\n\t"
        "subc.cc.u32 %4, %13, %21;\n\tsubc.cc.u32 %5, %14, %22;\n\tsubc.cc.u32 %6, %15, %23;\n\tsubc.cc.u32 %7, %16, %24;\n\t"
        "subc.u32 %8, 0, 0;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7]), "=r"(borrow)
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]), "r"(y[1]), "r"(y[2]),
          "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    unsigned p[16];
    for (int k = 0; k < 16; k++) p[k] = 0;
    for (int j = 0; j < 8; j++) {
        unsigned high = 0;
        for (int k = 0; k < 8; k++) {
            asm("{\n\t.reg .u32 t, h;\n\tmad.lo.cc.u32 t, %2, %3, %0;\n\tmadc.hi.u32 h, %2, %3, 0;\n\tadd.cc.u32 %0, t, %4;\n\taddc.u32 %1, h, 0;\n\t}"
                : "+r"(p[j + k]), "=r"(carry)
                : "r"(x[k]), "r"(y[j]), "r"(high));
            high = carry;
        }
        p[j + 8] = high;
    }
    asm("{\n\t.reg .u64 t;\n\tadd.cc.u64 t, %1, %2;\n\taddc.u32 %0, 0, 0;\n\t}"
        : "=r"(carry) : "l"((unsigned long long)x[7] << 32 | x[6]), "l"((unsigned long long)y[7] << 32 | y[6]));
    for (int k = 0; k < 8; k++) {
        sum[8 * i + k] = s[k];
        difference[8 * i + k] = d[k];
    }
    for (int k = 0; k < 16; k++) product[16 * i + k] = p[k];
    flags[i] = carry << 1 | (borrow & 1);
}
