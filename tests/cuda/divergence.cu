// Nested divergence: branches in loops in branches, early returns, breaks out of two levels, a barrier in a uniform branch.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug 12.9:compute_120
// clang: sm_70 sm_70:O0
extern "C" __global__ void divergence(const int* in, int* out, int mode, int n) {
    __shared__ int exchange[96];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int v = i < n ? in[i] : -1, r = 0;
    if (mode > 0) {
        exchange[t] = v;
        __syncthreads();
        r = exchange[(t + 7) % blockDim.x];
        __syncthreads();
    } else {
        r = t;
    }
    if (i >= n) return;
    if (v < 0) {
        out[i] = r - 1;
        return;
    }
    for (int a = 0; a < v % 7; a++) {
        if (a == 3 && (v & 8)) continue;
        for (int b = a; b < 6; b++) {
            if ((a ^ b) == (v & 5)) {
                r += 100;
                if (v & 16) goto done;
                break;
            }
            if (b & 1) r += a * b;
            else r ^= b << a;
        }
        int w = v;
        do {
            r += w & 3;
            w >>= 2;
            if (w == 2) break;
        } while (w);
    }
    r = -r;
done:
    out[i] = r;
}
