// Connected components by hooking and pointer jumping with atomic minima; a triangle count over sorted lists.
// targets: 12.9:compute_80 11.8:compute_52
extern "C" __global__ void hook(const int* from, const int* to, int edges, int* parent) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    int a = from[e], b = to[e];
    while (true) {
        while (parent[a] != a) a = parent[a];
        while (parent[b] != b) b = parent[b];
        if (a == b) return;
        if (a < b) {
            int v = a;
            a = b;
            b = v;
        }
        if (atomicCAS(&parent[a], a, b) == a) return;
    }
}

extern "C" __global__ void flatten(int* parent, int nodes) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    int root = v;
    while (parent[root] != root) root = parent[root];
    parent[v] = root;
}

extern "C" __global__ void triangles(const int* starts, const int* edges, int nodes, unsigned long long* count) {
    int v = blockIdx.x;
    unsigned mine = 0;
    for (int e = starts[v] + threadIdx.x; e < starts[v + 1]; e += blockDim.x) {
        int u = edges[e], i = starts[v], j = starts[u];
        while (i < starts[v + 1] && j < starts[u + 1]) {
            int d = edges[i] - edges[j];
            if (d == 0) mine++;
            if (d <= 0) i++;
            if (d >= 0) j++;
        }
    }
    if (mine) atomicAdd(count, (unsigned long long)mine);
}
