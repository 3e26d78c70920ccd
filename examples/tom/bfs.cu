// Breadth-first search level by level over a graph in CSR form, with flags between the launches. Rodinia's algorithm and layout.
// targets: 12.9:compute_75

struct Node {
    int first, edges;
};

// Nodes of the frontier reach their neighbours.
extern "C" __global__ void visit(const Node* nodes, const int* edges, unsigned char* frontier, unsigned char* next,
                                 const unsigned char* visited, int* cost, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n && frontier[node]) {
        frontier[node] = 0;
        for (int k = nodes[node].first; k < nodes[node].first + nodes[node].edges; k++) {
            int to = edges[k];
            if (!visited[to]) {
                cost[to] = cost[node] + 1;
                next[to] = 1;
            }
        }
    }
}

// What was reached is the next frontier; says whether there is one.
extern "C" __global__ void advance(unsigned char* frontier, unsigned char* next, unsigned char* visited, int* more, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n && next[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        *more = 1;
        next[node] = 0;
    }
}
