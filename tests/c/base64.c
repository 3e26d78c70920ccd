// run: base64(n=10, in=uint8[10], out=int8[16]=0)
// run: base64(n=0, in=uint8[0], out=int8[16]=0)
static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
int base64(int n, const unsigned char in[n], char out[16])
{
    int k = 0, i;
    for (i = 0; i + 2 < n; i += 3) {
        unsigned v = in[i] << 16 | in[i + 1] << 8 | in[i + 2];
        for (int s = 18; s >= 0; s -= 6) out[k++] = alphabet[v >> s & 63];
    }
    if (i < n) {
        unsigned v = in[i] << 16 | (i + 1 < n ? in[i + 1] << 8 : 0);
        out[k++] = alphabet[v >> 18];
        out[k++] = alphabet[v >> 12 & 63];
        out[k++] = i + 1 < n ? alphabet[v >> 6 & 63] : '=';
        out[k++] = '=';
    }
    return k;
}
