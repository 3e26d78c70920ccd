// Least-significant-digit radix sort of one block's keys and values, two bits a pass, ranks by ballots.
// targets: 12.9:compute_80 12.9:compute_75
#define N 128
extern "C" __global__ void radix_sort(const unsigned* keys, const unsigned short* values, unsigned* sorted, unsigned short* carried) {
    __shared__ unsigned k[N];
    __shared__ unsigned short v[N];
    __shared__ unsigned counts[4][N / 32], starts[4][N / 32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    k[t] = keys[blockIdx.x * N + t];
    v[t] = values[blockIdx.x * N + t];
    __syncthreads();
    for (int shift = 0; shift < 32; shift += 2) {
        unsigned key = k[t];
        unsigned short value = v[t];
        unsigned digit = key >> shift & 3, rank = 0;
        for (unsigned d = 0; d < 4; d++) {
            unsigned ballot = __ballot_sync(0xffffffffu, digit == d);
            if (digit == d) rank = __popc(ballot & ((1u << lane) - 1));
            if (lane == 0) counts[d][warp] = __popc(ballot);
        }
        __syncthreads();
        if (t == 0) {
            unsigned total = 0;
            for (int d = 0; d < 4; d++)
                for (int w = 0; w < N / 32; w++) {
                    starts[d][w] = total;
                    total += counts[d][w];
                }
        }
        __syncthreads();
        unsigned to = starts[digit][warp] + rank;
        k[to] = key;
        v[to] = value;
        __syncthreads();
    }
    sorted[blockIdx.x * N + t] = k[t];
    carried[blockIdx.x * N + t] = v[t];
}
