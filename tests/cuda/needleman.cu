// Needleman-Wunsch scores in 16x16 tiles, one launch a tile diagonal, as Rodinia's nw.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
#define B 16
extern "C" __global__ void needleman(const int* similarity, int* score, int cols, int penalty, int diagonal, int first) {
    __shared__ int s[B + 1][B + 1];
    int by = first + blockIdx.x, bx = diagonal - by, t = threadIdx.x;
    int base = (by * B) * cols + bx * B;
    s[t + 1][0] = score[base + (t + 1) * cols];
    s[0][t + 1] = score[base + t + 1];
    if (t == 0) s[0][0] = score[base];
    __syncthreads();
    for (int m = 0; m < 2 * B - 1; m++) {
        int x = t + 1, y = m - t + 1;
        if (y >= 1 && y <= B) {
            int v = s[y - 1][x - 1] + similarity[base + y * cols + x];
            v = max(v, s[y][x - 1] - penalty);
            s[y][x] = max(v, s[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int y = 1; y <= B; y++) score[base + y * cols + t + 1] = s[y][t + 1];
}
