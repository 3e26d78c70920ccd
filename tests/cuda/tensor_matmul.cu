// Matrix multiplies with nvcuda::wmma and with mma.sync: halves with an epilogue, bytes from shared memory, ldmatrix.
// targets: 12.9:compute_80 12.9:compute_75 12.9:compute_90 12.9:compute_80:debug
// options: --fmad=false
// host: no
#include <mma.h>
using namespace nvcuda;

// out = alpha a b + beta c; a and c by rows, b by columns; a warp makes a tile.
extern "C" __global__ void halves(const half* a, const half* b, const float* c, float* out, int n, float alpha, float beta) {
    int row = (blockIdx.y * 2 + threadIdx.x / 64) * 16, col = (blockIdx.x * 2 + threadIdx.x / 32 % 2) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, before;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + col * n + k, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::load_matrix_sync(before, c + row * n + col, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++)
        before.x[i] = alpha * sum.x[i] + beta * before.x[i];
    wmma::store_matrix_sync(out + row * n + col, before, n, wmma::mem_row_major);
}

// Sums in halves, which become the next factor: (a b) b, all by rows.
extern "C" __global__ void chained(const half* a, const half* b, half* out) {
    __shared__ half between[16 * 24];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
    wmma::load_matrix_sync(right, b, 16);
    wmma::load_matrix_sync(left, a, 16);
    for (int step = 0; step < 2; step++) {
        wmma::fill_fragment(sum, __float2half(0.0f));
        wmma::mma_sync(sum, left, right, sum);
        wmma::store_matrix_sync(between, sum, 24, wmma::mem_row_major);
        __syncwarp();
        wmma::load_matrix_sync(left, between, 24);
    }
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_col_major);
}

// Tiles of 32 by 8 of signed bytes in shared memory, by columns and rows.
extern "C" __global__ void bytes(const signed char* a, const signed char* b, int* out, int n) {
    __shared__ __align__(32) signed char as[16 * 32], bs[16 * 16];
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::col_major> left;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
    wmma::fill_fragment(sum, 7);
    for (int k = 0; k < n; k += 16) {
        for (int i = threadIdx.x; i < 16 * 32; i += 32) as[i] = a[(i % 32) * n + k + i / 32];
        for (int i = threadIdx.x; i < 16 * 8; i += 32) bs[i / 8 * 16 + i % 8] = b[(k + i / 8) * 8 + i % 8];
        __syncwarp();
        wmma::load_matrix_sync(left, as, 32);
        wmma::load_matrix_sync(right, bs, 16);
        wmma::mma_sync(sum, left, right, sum, n > 40);
        __syncwarp();
    }
    wmma::store_matrix_sync(out, sum, 8, wmma::mem_row_major);
}

// A tile of 16 by 8 by mma.sync, its factors by ldmatrix from rows of shared memory.
extern "C" __global__ void fragments(const half* a, const half* b, float* out, int n) {
    __shared__ __align__(16) half as[16 * 24], bs[16 * 8];
    int lane = threadIdx.x;
    float sum[4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = lane; i < 256; i += 32) as[i / 16 * 24 + i % 16] = a[i / 16 * n + k + i % 16];
        for (int i = lane; i < 128; i += 32) bs[i] = b[(k + i / 8) * 8 + i % 8];
        __syncwarp();
        unsigned left[4], right[2];
        unsigned from = (unsigned)__cvta_generic_to_shared(as + lane % 16 * 24 + lane / 16 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3]) : "r"(from));
        from = (unsigned)__cvta_generic_to_shared(bs + lane % 16 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(right[0]), "=r"(right[1]) : "r"(from));
        for (int half = 0; half < 2; half++)
            asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(left[2 * half]), "r"(left[2 * half + 1]), "r"(right[half]));
        __syncwarp();
    }
    for (int i = 0; i < 4; i++) out[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}
