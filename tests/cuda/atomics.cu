// Every atomic operation on shared and global words of each type, in orders that commute.
// targets: 12.9:compute_80 11.8:compute_60 12.9:compute_90:debug 12.9:compute_100
extern "C" __global__ void atomics(const int* in, int* ints, unsigned* uints, unsigned long long* longs, long long* signed_longs, float* floats, double* doubles, int n) {
    __shared__ int si[6];
    __shared__ unsigned long long sl[4];
    __shared__ float sf;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 6) si[t] = t == 1 ? 0x7fffffff : t == 2 ? -0x7fffffff - 1 : t == 3 ? -1 : 0;
    if (t < 4) sl[t] = t == 1 ? ~0ull : 0;
    if (t == 0) sf = 0.0f;
    __syncthreads();
    if (i < n) {
        int v = in[i];
        atomicAdd(&si[0], v);
        atomicMin(&si[1], v);
        atomicMax(&si[2], v);
        atomicAnd(&si[3], v | 0xff);
        atomicOr(&si[4], v & 0xf0f0);
        atomicXor(&si[5], v);
        atomicAdd(&sl[0], (unsigned long long)v * 3);
        atomicMin(&sl[1], (unsigned long long)v);
        atomicMax(&sl[2], (unsigned long long)v);
        atomicXor(&sl[3], (unsigned long long)v << 20);
        atomicAdd(&sf, (float)(v & 15));
        atomicAdd(&ints[6], v);
        atomicSub(&ints[7], v);
        atomicInc(&uints[0], 9u);
        atomicDec(&uints[1], 6u);
        atomicMin(&uints[2], (unsigned)v);
        atomicMax(&uints[3], (unsigned)v);
        atomicMin(&signed_longs[0], (long long)v * 1000000007);
        atomicMax(&signed_longs[1], (long long)v * 1000000007);
        atomicAnd(&longs[4], ~(1ull << (v & 63)));
        atomicOr(&longs[5], 1ull << (v & 63));
        atomicAdd(&floats[1], 0.5f);
        atomicAdd(&doubles[0], v * 0.25);
        int seen = ints[8];
        while (true) {
            int old = atomicCAS(&ints[8], seen, seen + (v & 7) * (v & 7));
            if (old == seen) break;
            seen = old;
        }
    }
    __syncthreads();
    if (t == 0) {
        atomicAdd(&ints[0], si[0]);
        atomicMin(&ints[1], si[1]);
        atomicMax(&ints[2], si[2]);
        atomicAnd(&ints[3], si[3]);
        atomicOr(&ints[4], si[4]);
        atomicXor(&ints[5], si[5]);
        atomicAdd(&longs[0], sl[0]);
        atomicMin(&longs[1], sl[1]);
        atomicMax(&longs[2], sl[2]);
        atomicXor(&longs[3], sl[3]);
        atomicAdd(&floats[0], sf);
        if (blockIdx.x == 0) atomicExch(&uints[4], 1234u);
    }
}
