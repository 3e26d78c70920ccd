// Breadth-first search over a CSR graph, one launch a level, the Rodinia way with masks.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70 sm_70:O0
extern "C" __global__ void bfs_expand(const int* starts, const int* edges, unsigned char* frontier, unsigned char* next,
                                      unsigned char* visited, int* cost, int nodes) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !frontier[v]) return;
    frontier[v] = 0;
    for (int e = starts[v]; e < starts[v + 1]; e++) {
        int to = edges[e];
        if (!visited[to]) {
            cost[to] = cost[v] + 1;
            next[to] = 1;
        }
    }
}

extern "C" __global__ void bfs_update(unsigned char* frontier, unsigned char* next, unsigned char* visited, int* levels,
                                      int level, int nodes) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !next[v]) return;
    frontier[v] = 1;
    visited[v] = 1;
    next[v] = 0;
    atomicMax(levels, level);
}
