// run: rle(n=20, in=uint8[20]%1, out=uint8[40]=0)
// run: rle(n=0, in=uint8[0], out=uint8[0]=0)
typedef unsigned char byte;
int rle(int n, const byte *in, byte *out)
{
    const byte *end = in + n;
    byte *to = out;
    while (in < end) {
        const byte *start = in;
        while (++in != end && *in == *start && in - start < 255)
            ;
        *to++ = (byte)(in - start);
        *to++ = *start;
    }
    return to - out;
}
