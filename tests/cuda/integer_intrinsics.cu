// Bit and integer intrinsics over edge values.
// targets: 12.9:compute_80 12.9:compute_75 12.9:compute_90
extern "C" __global__ void integer_intrinsics(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, unsigned long long* wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], z = c[i], k = 0;
    unsigned* o = out + 28 * i;
    o[k++] = __brev(x);
    o[k++] = __clz(x);
    o[k++] = __ffs(x);
    o[k++] = __popc(x);
    o[k++] = __byte_perm(x, y, z);
    o[k++] = __funnelshift_l(x, y, z);
    o[k++] = __funnelshift_r(x, y, z);
    o[k++] = __funnelshift_lc(x, y, z);
    o[k++] = __funnelshift_rc(x, y, z);
    o[k++] = __umulhi(x, y);
    o[k++] = __mulhi((int)x, (int)y);
    o[k++] = __mul24((int)x, (int)y);
    o[k++] = __umul24(x, y);
    o[k++] = __sad((int)x, (int)y, z);
    o[k++] = __usad(x, y, z);
    o[k++] = __dp4a((int)x, (int)y, (int)z);
    o[k++] = __dp4a(x, y, z);
    o[k++] = __vabsdiffu4(x, y);
    o[k++] = __vaddus4(x, y);
    o[k++] = __hadd((int)x, (int)y);
    o[k++] = __uhadd(x, y);
    o[k++] = __urhadd(x, y);
    o[k++] = y ? x / y : 77;
    o[k++] = y ? x % y : 77;
    o[k++] = y ? (unsigned)((long long)(int)x / (int)y) : 77;
    o[k++] = (unsigned)abs((int)x);
    o[k++] = (unsigned)min((int)x, (int)y);
    o[k++] = max(x, y);
    unsigned long long p = (unsigned long long)x << 32 | y, q = (unsigned long long)z << 32 | x;
    unsigned long long* w = wide + 8 * i;
    w[0] = __brevll(p);
    w[1] = __clzll((long long)p);
    w[2] = __ffsll((long long)p);
    w[3] = __popcll(p);
    w[4] = __umul64hi(p, q);
    w[5] = (unsigned long long)__mul64hi((long long)p, (long long)q);
    w[6] = q ? p / q : 5;
    w[7] = (q + 1) > 1 ? (unsigned long long)((long long)p % (long long)q) : 5;
}
