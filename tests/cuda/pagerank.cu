// PageRank by pulling along incoming edges; double precision, one launch an iteration.
// targets: 12.9:compute_80 12.9:compute_90
// options: --fmad=false
extern "C" __global__ void pagerank(const int* starts, const int* from, const int* degree, const double* rank,
                                    double* next, double damping, int nodes) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    double sum = 0.0;
    for (int e = starts[v]; e < starts[v + 1]; e++) {
        int u = from[e];
        sum += rank[u] / (double)degree[u];
    }
    next[v] = (1.0 - damping) / nodes + damping * sum;
}
