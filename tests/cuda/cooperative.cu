// Cooperative groups: block, tiles of 8 with shuffles, coalesced threads under divergence.
// targets: 12.9:compute_80 11.8:compute_70 12.9:compute_90
// host: no
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void cooperative(const int* in, int* tiles, int* ranks, int n) {
    __shared__ int s[128];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank(), i = blockIdx.x * blockDim.x + t;
    int v = i < n ? in[i] : 0;
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) s[t / 8] = v;
    block.sync();
    if (t < blockDim.x / 8) tiles[blockIdx.x * (blockDim.x / 8) + t] = s[t];
    if (i < n && in[i] > 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        ranks[i] = active.thread_rank() * 100 + active.size();
    }
    auto whole = cg::tiled_partition<32>(block);
    bool marked = whole.any(i < n && in[i] == 999);
    if (i < n && marked) ranks[i] = -1;
}
