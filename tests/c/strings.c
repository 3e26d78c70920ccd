// run: strings(n=12, text=int8[12]%120, out=int32[4]=0)
static int length(const char *s) { const char *p = s; while (*p) ++p; return p - s; }
static unsigned hash(const char *s) { unsigned h = 5381; for (; *s; s++) h = h * 33 + (unsigned char)*s; return h; }
int strings(int n, const char text[n], int out[4])
{
    char buffer[16] = "ab" "cd";
    buffer[4] = 'e';
    out[0] = length(buffer);
    out[1] = hash(n > 3 ? "hello, world" : "x");
    out[2] = length("") + length("\0abc") + sizeof("a\tb");
    for (int i = 0; i < n; i++) out[3] = out[3] * 31 + text[i];
    const char *which = buffer;
    if (out[3] & 1) which = "other text";
    return hash(which) + which[1];
}
