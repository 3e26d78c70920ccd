// Base64 both ways, with the padding of an odd length and a table in constant memory.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
__constant__ char letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

extern "C" __global__ void encode(const unsigned char* in, int n, char* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (3 * i >= n) return;
    unsigned v = in[3 * i] << 16;
    if (3 * i + 1 < n) v |= in[3 * i + 1] << 8;
    if (3 * i + 2 < n) v |= in[3 * i + 2];
    out[4 * i] = letters[v >> 18];
    out[4 * i + 1] = letters[v >> 12 & 63];
    out[4 * i + 2] = 3 * i + 1 < n ? letters[v >> 6 & 63] : '=';
    out[4 * i + 3] = 3 * i + 2 < n ? letters[v & 63] : '=';
}

__device__ int value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

extern "C" __global__ void decode(const char* in, int groups, unsigned char* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    int a = value(in[4 * i]), b = value(in[4 * i + 1]), c = value(in[4 * i + 2]), d = value(in[4 * i + 3]);
    out[3 * i] = (unsigned char)(a << 2 | b >> 4);
    if (c >= 0) out[3 * i + 1] = (unsigned char)(b << 4 | c >> 2);
    if (d >= 0) out[3 * i + 2] = (unsigned char)(c << 6 | d);
}
