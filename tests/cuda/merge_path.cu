// Merges two sorted sequences: each thread finds its diagonal by binary search and merges seven elements.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_60
extern "C" __global__ void merge_path(const long long* a, int na, const long long* b, int nb, long long* out) {
    const int each = 7;
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    if (diagonal >= na + nb) return;
    int low = diagonal > nb ? diagonal - nb : 0, high = diagonal < na ? diagonal : na;
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[diagonal - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    int i = low, j = diagonal - low;
    for (int k = 0; k < each && diagonal + k < na + nb; k++) {
        bool left = j >= nb || (i < na && a[i] <= b[j]);
        out[diagonal + k] = left ? a[i++] : b[j++];
    }
}
