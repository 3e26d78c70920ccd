// run: mandel(h=6, w=9, out=uint8[6,9]=0)
void mandel(int h, int w, unsigned char out[h][w])
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int cr = (x * 3 << 13) / w - (2 << 13), ci = (y * 2 << 13) / h - (1 << 13);
            int zr = 0, zi = 0, n = 0;
            do {
                int t = (zr * zr - zi * zi >> 13) + cr;
                zi = (2 * zr * zi >> 13) + ci;
                zr = t;
            } while (++n < 50 && zr * zr + zi * zi < 4 << 26);
            out[y][x] = n;
        }
}
