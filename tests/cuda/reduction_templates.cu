// The reductions of the CUDA samples: interleaved, sequential, first add on load, unrolled by a template, with volatile shared memory.
// targets: 12.9:compute_80 11.8:compute_52
// host: no
extern "C" __global__ void interleaved(const unsigned* in, unsigned* out, int n) {
    extern __shared__ unsigned s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <int BLOCK>
__device__ void last_warp(volatile unsigned* s, int t) {
    if (BLOCK >= 64) { s[t] += s[t + 32]; __syncwarp(); }
    if (t < 16) { s[t] += s[t + 16]; }
    __syncwarp();
    if (t < 8) { s[t] += s[t + 8]; }
    __syncwarp();
    if (t < 4) { s[t] += s[t + 4]; }
    __syncwarp();
    if (t < 2) { s[t] += s[t + 2]; }
    __syncwarp();
    if (t < 1) { s[t] += s[t + 1]; }
}

template <int BLOCK>
__global__ void unrolled(const unsigned* in, unsigned* out, int n) {
    extern __shared__ unsigned s[];
    int t = threadIdx.x, step = BLOCK * 2 * gridDim.x;
    unsigned sum = 0;
    for (int i = blockIdx.x * BLOCK * 2 + t; i < n; i += step) {
        sum += in[i];
        if (i + BLOCK < n) sum += in[i + BLOCK];
    }
    s[t] = sum;
    __syncthreads();
    if (BLOCK >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
    if (BLOCK >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
    if (t < 32) last_warp<BLOCK>(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

template __global__ void unrolled<64>(const unsigned*, unsigned*, int);
template __global__ void unrolled<256>(const unsigned*, unsigned*, int);
