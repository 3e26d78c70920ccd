// Packs codes of different lengths into a bit stream: a scan of lengths, then atomic ors of both halves.
// targets: 12.9:compute_80 11.8:compute_52
__constant__ unsigned codes[16];
__constant__ unsigned char lengths[16];

extern "C" __global__ void huffman(const unsigned char* symbols, int n, unsigned* stream, int* bits) {
    __shared__ int offset[256];
    int t = threadIdx.x;
    unsigned char s = t < n ? symbols[t] : 0;
    int length = t < n ? lengths[s] : 0;
    offset[t] = length;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? offset[t - d] : 0;
        __syncthreads();
        offset[t] += v;
        __syncthreads();
    }
    if (t < n) {
        int at = offset[t] - length;
        unsigned long long wide = (unsigned long long)codes[s] << (64 - length - (at & 31));
        atomicOr(&stream[at >> 5], (unsigned)(wide >> 32));
        if ((unsigned)wide) atomicOr(&stream[(at >> 5) + 1], (unsigned)wide);
    }
    if (t == blockDim.x - 1) *bits = offset[t];
}
