// Device variables of every kind with initialisers, counters that live across launches, addresses in tables.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_90:rdc 12.9:compute_100
struct Entry {
    char name[5];
    short weight;
    double factor;
    const int* table;
};

__device__ const int primes[6] = {2, 3, 5, 7, 11, 13};
__device__ const int squares[4] = {1, 4, 9, 16};
__device__ Entry entries[3] = {{"two", -2, 0.5, primes}, {"four", 4, -1.25, squares}, {"last", 300, 1e10, primes + 2}};
__device__ int counter = 1000;
__device__ unsigned long long big = 0x123456789abcdef0ull;
__device__ float series[8] = {1.0f, -0.5f, 0.25f};
__constant__ short offsets[4] = {-1, 5, -300, 7};
__device__ const char* const names[2] = {"alpha", "beta"};

extern "C" __global__ void static_variables(int* ticket, double* value, char* text, int n) {
    static __device__ int calls = 7;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Entry* e = &entries[i % 3];
    ticket[i] = e->table[i % 4 == 3 ? 2 : i % 4] * e->weight + offsets[i & 3];
    value[i] = e->factor * series[i & 7];
    const char* name = names[i & 1];
    text[i] = i & 2 ? name[1] : e->name[i % 5];
    atomicAdd(&counter, i);
    atomicXor(&big, 1ull << (i & 63));
    atomicAdd(&calls, 1);
}

extern "C" __global__ void read_back(int* count, unsigned long long* bits) {
    entries[1].weight += 10;
    *count = counter + entries[1].weight;
    *bits = big;
}
