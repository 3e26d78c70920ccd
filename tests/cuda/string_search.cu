// Occurrences of a pattern: naive, Knuth-Morris-Pratt over chunks, and Rabin-Karp with a rolling hash.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_60
__constant__ unsigned char pattern[16];
__constant__ int failure[16];

extern "C" __global__ void naive(const char* text, int n, int m, unsigned char* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n) return;
    int k = 0;
    while (k < m && (unsigned char)text[i + k] == pattern[k]) k++;
    found[i] = k == m;
}

extern "C" __global__ void kmp(const char* text, int n, int m, int chunk, int* count) {
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
    if (begin >= n) return;
    int end = begin + chunk + m - 1;
    if (end > n) end = n;
    int k = 0, hits = 0;
    for (int i = begin; i < end; i++) {
        unsigned char ch = text[i];
        while (k > 0 && pattern[k] != ch) k = failure[k - 1];
        if (pattern[k] == ch) k++;
        if (k == m) {
            hits++;
            k = failure[k - 1];
        }
    }
    if (hits) atomicAdd(count, hits);
}

extern "C" __global__ void rabin_karp(const char* text, int n, int m, int chunk, unsigned long long* positions) {
    const unsigned base = 257, prime = 1000003;
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
    int last = n - m;
    if (begin > last) return;
    unsigned want = 0, hash = 0, power = 1;
    for (int k = 0; k < m; k++) {
        want = (unsigned)(((unsigned long long)want * base + pattern[k]) % prime);
        hash = (unsigned)(((unsigned long long)hash * base + (unsigned char)text[begin + k]) % prime);
        if (k) power = (unsigned)((unsigned long long)power * base % prime);
    }
    for (int i = begin; i < begin + chunk && i <= last; i++) {
        if (hash == want) {
            int k = 0;
            while (k < m && (unsigned char)text[i + k] == pattern[k]) k++;
            if (k == m) atomicAdd(positions, (unsigned long long)i);
        }
        unsigned out = (unsigned)((unsigned long long)(unsigned char)text[i] * power % prime);
        hash = (hash + prime - out) % prime;
        if (i < last) hash = (unsigned)(((unsigned long long)hash * base + (unsigned char)text[i + m]) % prime);
    }
}
