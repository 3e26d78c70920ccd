// Reads a long long from an address that is a multiple of four only.
// targets: 12.9:compute_80 12.9:compute_75
// options: -lineinfo
// host: no
extern "C" __global__ void misaligned(const int* in, long long* out, int skew) {
    out[threadIdx.x] = *(const long long*)(in + 2 * threadIdx.x + (threadIdx.x == 3 ? skew : 0));
}
