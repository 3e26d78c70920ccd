// Asynchronous copies to shared memory: of each size, of less than a size by a number and by a
// predicate, in groups.
// targets: 12.9:compute_80 12.9:compute_90
// host: no
static __device__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void async_copy(const unsigned char* in, unsigned char* out, unsigned char* parts, int n) {
    __shared__ __align__(16) unsigned char tile[2][32][16];
    int t = threadIdx.x;
    for (int k = 0; k < 16; k++) tile[0][t][k] = tile[1][t][k] = 0x55;
    // Two buffers: while one row is used, the next one comes.
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place(tile[0][t])), "l"(in + t * 16) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int row = 0; row < n; row++) {
        int next = (row + 1) & 1;
        const unsigned char* from = in + ((row + 1) * 32 + t) * 16;
        if (row + 1 < n) {
            asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" :: "r"(place(tile[next][t])), "l"(from) : "memory");
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(place(tile[next][t] + 8)), "l"(from + 8) : "memory");
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(place(tile[next][t] + 12)), "l"(from + 12) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < 16; k++) out[(row * 32 + t) * 16 + k] = tile[row & 1][31 - t][k];
        __syncthreads();
    }
    // What lies behind the bytes that are read becomes zero.
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(place(tile[0][t])), "l"(in + t * 16), "r"(t % 17) : "memory");
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, 9; cp.async.ca.shared.global [%0], [%1], 8, p; }" :: "r"(place(tile[1][t])), "l"(in + t * 16), "r"(t) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int k = 0; k < 16; k++) parts[t * 32 + k] = tile[0][t][k];
    for (int k = 0; k < 8; k++) parts[t * 32 + 16 + k] = tile[1][t][k];
}
