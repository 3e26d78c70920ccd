// run: unsigned_loops(n=10, out=uint32[8]=0)
// run: unsigned_loops(n=0, out=uint32[8]=0)
unsigned unsigned_loops(unsigned n, unsigned out[8])
{
    for (unsigned i = n; i-- > 0;) out[0] += i;
    for (unsigned char c = 250; c >= 250; c++) out[1]++;
    for (short s = 32760; s > 0; s++) out[2]++;
    for (unsigned i = 3; i <= n; i += 3) out[3] += i;
    for (long k = -5; k < (long)n; k += 2) out[4] += k;
    for (int i = 0; i != 12; i += 4) out[5] += i;
    unsigned k = 0;
    for (;;) { if (k * k > n) break; k++; }
    out[6] = k;
    for (unsigned a = 1, b = 1; a < 1000; b += a, a = b - a) out[7] = a;
    return n - 1 > n;
}
