// Lookups in a B-tree of order 8 laid out in an array: one block a query, a thread a key of the node.
// targets: 12.9:compute_80 11.8:compute_52
struct Node {
    int count;
    int keys[8];
    int children[9];
    int values[8];
};

extern "C" __global__ void btree_search(const Node* nodes, int root, const int* queries, int* answers) {
    __shared__ int at, found;
    int t = threadIdx.x, key = queries[blockIdx.x];
    if (t == 0) {
        at = root;
        found = -1;
    }
    __syncthreads();
    while (at >= 0) {
        const Node* node = &nodes[at];
        int count = node->count;
        __syncthreads();
        if (t < count) {
            int mine = node->keys[t];
            if (mine == key) {
                found = node->values[t];
                at = -1;
            }
        }
        __syncthreads();
        if (at < 0) break;
        bool here = t <= count && (t == 0 || node->keys[t - 1] < key) && (t == count || key < node->keys[t]);
        __syncthreads();
        if (here) at = node->children[t];
        __syncthreads();
    }
    if (t == 0) answers[blockIdx.x] = found;
}
