// Longest matches of queries in a text by binary search in its suffix array.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void suffix_search(const unsigned char* text, const int* suffixes, int n, const unsigned char* queries, const int* starts, int* length, int* first, int m) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= m) return;
    const unsigned char* p = queries + starts[q];
    int size = starts[q + 1] - starts[q], low = 0, high = n, best = 0;
    while (low < high) {
        int mid = (low + high) >> 1, at = suffixes[mid], k = 0;
        while (k < size && at + k < n && p[k] == text[at + k]) k++;
        best = best > k ? best : k;
        if (k == size || (at + k < n && p[k] < text[at + k])) high = mid;
        else low = mid + 1;
    }
    length[q] = best;
    first[q] = low;
}
