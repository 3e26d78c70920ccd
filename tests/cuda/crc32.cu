// CRC-32 of many messages: bitwise, and by a table that a first kernel computes into a device variable.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
__device__ unsigned table[256];

extern "C" __global__ void crc_table() {
    unsigned v = threadIdx.x;
    for (int k = 0; k < 8; k++) v = v & 1 ? v >> 1 ^ 0xEDB88320u : v >> 1;
    table[threadIdx.x] = v;
}

extern "C" __global__ void crc32(const unsigned char* data, const int* starts, unsigned* bitwise, unsigned* tabled, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = 0xffffffffu, b = 0xffffffffu;
    for (int at = starts[i]; at < starts[i + 1]; at++) {
        a ^= data[at];
        for (int k = 0; k < 8; k++) a = a >> 1 ^ (0xEDB88320u & -(a & 1));
        b = b >> 8 ^ table[(b ^ data[at]) & 255];
    }
    bitwise[i] = ~a;
    tabled[i] = ~b;
}
