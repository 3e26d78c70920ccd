// Arrays in local memory with indices known at run time only: permutations, a heap, a matrix walked in a spiral.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
extern "C" __global__ void local_arrays(const unsigned* seeds, unsigned char* permutation, unsigned* least, int* spiral, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char p[20];
    unsigned s = seeds[i];
    for (int k = 0; k < 20; k++) p[k] = (unsigned char)k;
    for (int k = 19; k > 0; k--) {
        s = s * 1664525u + 1013904223u;
        int j = (int)((s >> 16) % (k + 1));
        unsigned char v = p[k];
        p[k] = p[j];
        p[j] = v;
    }
    for (int k = 0; k < 20; k++) permutation[20 * i + k] = p[k];

    unsigned heap[12];
    int size = 0;
    unsigned sum = 0;
    for (int k = 0; k < 30; k++) {
        s = s * 1664525u + 1013904223u;
        if (size < 12 && (s & 0x10000 || size == 0)) {
            int at = size++;
            while (at > 0 && heap[(at - 1) / 2] > s) {
                heap[at] = heap[(at - 1) / 2];
                at = (at - 1) / 2;
            }
            heap[at] = s;
        } else {
            sum = sum * 31 + heap[0];
            unsigned v = heap[--size];
            int at = 0;
            while (2 * at + 1 < size) {
                int child = 2 * at + 1;
                if (child + 1 < size && heap[child + 1] < heap[child]) child++;
                if (heap[child] >= v) break;
                heap[at] = heap[child];
                at = child;
            }
            heap[at] = v;
        }
    }
    least[i] = sum;

    int m[5][5];
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++) m[y][x] = (int)(s >> (x + y)) % 100;
    int x = 0, y = 0, dx = 1, dy = 0, total = 0;
    for (int k = 1; k <= 25; k++) {
        total += k * m[y][x];
        m[y][x] = -1000;
        int nx = x + dx, ny = y + dy;
        if (nx < 0 || nx > 4 || ny < 0 || ny > 4 || m[ny][nx] == -1000) {
            int turn = dx;
            dx = -dy;
            dy = turn;
            nx = x + dx;
            ny = y + dy;
        }
        x = nx;
        y = ny;
    }
    spiral[i] = total;
}
