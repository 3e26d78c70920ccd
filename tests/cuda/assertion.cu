// An assertion that holds for all threads but one.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_90:debug
#ifndef __CUDA_ON_HOST__
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
#define assert(e) ((e) ? (void)0 : __assertfail(#e, "assertion.cu", __LINE__, __func__, 1))
#endif
extern "C" __global__ void assertion(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(in[i] >= 0);
        out[i] = in[i] * 2;
    }
}
