// Edit distance of many pairs, one block a pair, anti-diagonals in shared memory.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_90:debug
extern "C" __global__ void levenshtein(const char* words, const int* starts, int* distance) {
    __shared__ short diag[3][65];
    const char* a = words + starts[2 * blockIdx.x];
    const char* b = words + starts[2 * blockIdx.x + 1];
    int na = starts[2 * blockIdx.x + 1] - starts[2 * blockIdx.x];
    int nb = starts[2 * blockIdx.x + 2] - starts[2 * blockIdx.x + 1];
    int i = threadIdx.x;
    for (int d = 0; d <= na + nb; d++) {
        int j = d - i;
        short* now = diag[d % 3];
        const short* one = diag[(d + 2) % 3];
        const short* two = diag[(d + 1) % 3];
        if (i <= na && j >= 0 && j <= nb) {
            int v;
            if (i == 0) v = j;
            else if (j == 0) v = i;
            else {
                v = two[i - 1] + (a[i - 1] != b[j - 1]);
                v = min(v, one[i] + 1);
                v = min(v, one[i - 1] + 1);
            }
            now[i] = (short)v;
            if (i == na && j == nb) distance[blockIdx.x] = v;
        }
        __syncthreads();
    }
}
