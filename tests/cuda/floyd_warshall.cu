// All shortest paths, one launch a middle node, with predecessors.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_60
extern "C" __global__ void floyd_warshall(int* distance, short* via, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    int through = distance[i * n + k] + distance[k * n + j];
    if (through < distance[i * n + j]) {
        distance[i * n + j] = through;
        via[i * n + j] = (short)k;
    }
}
