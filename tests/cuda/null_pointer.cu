// Follows a null pointer found in memory.
// targets: 12.9:compute_80 11.8:compute_52
// options: -lineinfo
// host: no
extern "C" __global__ void null_pointer(const unsigned long long* links, int* out) {
    const int* p = (const int*)links[threadIdx.x];
    out[threadIdx.x] = *p;
}
