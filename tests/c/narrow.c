// run: narrow(n=10, a=int8[10], b=uint8[10], c=uint16[10], out=int8[10]=0)
signed char narrow(unsigned char n, signed char a[n], unsigned char b[n], unsigned short c[n], char out[n])
{
    signed char s = 0;
    unsigned char u = 250;
    for (unsigned char i = 0; i < n; i++) {
        a[i] += b[i];
        b[i] <<= 1;
        b[i]++;
        c[i] *= c[i];
        c[i] >>= 2;
        s -= a[i];
        u += 3;
        out[i] = a[i] * b[i] + u;
        out[i] = -out[i];
        out[i] ^= ~s;
        a[i]--; --a[i]; a[i] = a[i] + (b[i] > 100);
        s %= 50;
        u |= c[i];
    }
    _Bool t = u;
    t += 5;
    t -= 1;
    return s + t;
}
