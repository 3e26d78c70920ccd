// Single-source shortest paths: relaxations with atomic minima until nothing changes (bounded launches).
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void sssp(const int* starts, const int* edges, const int* weights, int* distance, int* changed, int nodes) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    int d = distance[v];
    if (d == 0x7fffffff) return;
    for (int e = starts[v]; e < starts[v + 1]; e++) {
        int through = d + weights[e];
        if (atomicMin(&distance[edges[e]], through) > through) *changed = 1;
    }
}
