// Counts the solutions of n queens: a first row and second row a thread, backtracking with bit masks in a local stack.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
extern "C" __global__ void nqueens(int n, int* solutions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    unsigned a = 1u << i % n, b = 1u << i / n;
    if ((a | a << 1 | a >> 1) & b) return;
    unsigned all = (1u << n) - 1;
    unsigned columns[12], left[12], right[12], open[12];
    int depth = 2, count = 0;
    columns[2] = a | b;
    left[2] = (a << 2 | b << 1) & all;
    right[2] = a >> 2 | b >> 1;
    open[2] = all & ~(columns[2] | left[2] | right[2]);
    while (depth >= 2) {
        unsigned bit = open[depth] & -open[depth];
        if (!bit) {
            depth--;
            continue;
        }
        open[depth] ^= bit;
        if (depth == n - 1) {
            count++;
            continue;
        }
        columns[depth + 1] = columns[depth] | bit;
        left[depth + 1] = (left[depth] | bit) << 1 & all;
        right[depth + 1] = (right[depth] | bit) >> 1;
        depth++;
        open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    if (count) atomicAdd(solutions, count);
}
