// Cooperative groups over the whole grid: ranks are right, waiting needs a cooperative launch.
// targets: 12.9:compute_80
// host: no
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_sync(int* first, int* second, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();
    if (i < n) first[i] = i * 3;
    grid.sync();
    if (i < n) second[i] = first[n - 1 - i];
}
