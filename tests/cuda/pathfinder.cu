// Cheapest path down a grid, several rows a launch with a shrinking valid range, as Rodinia's pathfinder.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
#define B 64
extern "C" __global__ void pathfinder(int rows, const int* wall, const int* source, int* result, int cols, int start) {
    __shared__ int before[B], now[B];
    int tx = threadIdx.x, small = B - 2 * rows;
    int x = (int)blockIdx.x * small - rows + tx;
    bool inside = x >= 0 && x < cols;
    int left = x <= 0 ? tx : tx - 1, right = x >= cols - 1 ? tx : tx + 1;
    if (inside) before[tx] = source[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < rows; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= B - i - 2 && inside) {
            computed = true;
            int shortest = min(before[tx], min(before[left], before[right]));
            now[tx] = shortest + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == rows - 1) break;
        if (computed) before[tx] = now[tx];
        __syncthreads();
    }
    if (computed) result[x] = now[tx];
}
