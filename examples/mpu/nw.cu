// nw of Table I: Needleman and Wunsch's alignment of two sequences as in Rodinia: a launch does one
// diagonal of tiles, a block a tile, diagonal by diagonal in shared memory.
// targets: 12.9:compute_75
const int B = 32;

extern "C" __global__ void __launch_bounds__(B)
nw(const int* __restrict__ similarity, int* __restrict__ score, int columns, int diagonal, int first,
   int penalty) {
    __shared__ int cell[B + 1][B + 1];
    __shared__ int match[B][B];
    int t = threadIdx.x;
    int tile_x = first + blockIdx.x, tile_y = diagonal - tile_x;
    // The corner above and left of the tile.
    size_t corner = (size_t)tile_y * B * columns + tile_x * B;
    for (int y = 0; y < B; y++) match[y][t] = similarity[corner + (size_t)(y + 1) * columns + t + 1];
    if (t == 0) cell[0][0] = score[corner];
    cell[0][t + 1] = score[corner + t + 1];
    cell[t + 1][0] = score[corner + (size_t)(t + 1) * columns];
    __syncthreads();
    for (int d = 0; d < 2 * B - 1; d++) {
        int x = d - t;
        if (x >= 0 && x < B) {
            int best = cell[t][x] + match[t][x];
            best = max(best, cell[t][x + 1] - penalty);
            cell[t + 1][x + 1] = max(best, cell[t + 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int y = 0; y < B; y++) score[corner + (size_t)(y + 1) * columns + t + 1] = cell[y + 1][t + 1];
}
