// One dynamic shared array carved into doubles, shorts and bytes, beside a static one.
// targets: 12.9:compute_80 11.8:compute_52
extern "C" __global__ void dynamic_shared(const short* in, double* mean, short* middle, unsigned char* parity, int per) {
    extern __shared__ double pool[];
    __shared__ int total;
    double* wide = pool;
    short* narrow = (short*)(wide + per);
    unsigned char* tiny = (unsigned char*)(narrow + per);
    int t = threadIdx.x, base = blockIdx.x * per;
    if (t == 0) total = 0;
    for (int k = t; k < per; k += blockDim.x) {
        narrow[k] = in[base + k];
        wide[k] = narrow[k] * 0.125;
        tiny[k] = narrow[k] & 1;
    }
    __syncthreads();
    for (int k = t; k < per; k += blockDim.x) {
        int below = 0;
        for (int j = 0; j < per; j++) below += narrow[j] < narrow[k] || (narrow[j] == narrow[k] && j < k);
        if (below == per / 2) middle[blockIdx.x] = narrow[k];
        atomicAdd(&total, (int)(wide[k] * 8.0));
    }
    __syncthreads();
    if (t == 0) {
        mean[blockIdx.x] = (double)total / per;
        unsigned char p = 0;
        for (int k = 0; k < per; k++) p ^= tiny[k] << (k & 7);
        parity[blockIdx.x] = p;
    }
}
