// run: crc32(n=40, data=uint8[40])
// run: crc32(n=0, data=uint8[0])
#include <stdint.h>
static uint32_t table[256];
static void build(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}
uint32_t crc32(uint32_t n, const uint8_t data[n])
{
    uint32_t c = ~0u;
    build();
    while (n--) c = table[(c ^ *data++) & 0xff] ^ (c >> 8);
    return ~c;
}
