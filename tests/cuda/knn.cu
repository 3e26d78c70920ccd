// The four nearest neighbours of each query, kept sorted in a local array by insertion.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug
// clang: sm_70 sm_70:O0
extern "C" __global__ void knn(const int2* points, int n, const int2* queries, int m, int* nearest, unsigned* distances) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= m) return;
    unsigned best[4];
    int index[4];
    for (int k = 0; k < 4; k++) {
        best[k] = 0xffffffffu;
        index[k] = -1;
    }
    for (int i = 0; i < n; i++) {
        int dx = points[i].x - queries[q].x, dy = points[i].y - queries[q].y;
        unsigned d = dx * dx + dy * dy;
        if (d >= best[3]) continue;
        int k = 3;
        while (k > 0 && best[k - 1] > d) {
            best[k] = best[k - 1];
            index[k] = index[k - 1];
            k--;
        }
        best[k] = d;
        index[k] = i;
    }
    for (int k = 0; k < 4; k++) {
        nearest[q * 4 + k] = index[k];
        distances[q * 4 + k] = best[k];
    }
}
