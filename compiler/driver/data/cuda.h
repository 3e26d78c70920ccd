/* The names of CUDA that most kernels need, for clang where NVIDIA's headers are not installed. */
#ifndef NBCC_CUDA_H
#define NBCC_CUDA_H
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

typedef unsigned long long clang_u64;

struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
};
__device__ static inline int2 make_int2(int x, int y) { return {x, y}; }
__device__ static inline float2 make_float2(float x, float y) { return {x, y}; }
__device__ static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
__device__ static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct clang_thread {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ static inline unsigned get_x() { return __nvvm_read_ptx_sreg_tid_x(); }
    __device__ static inline unsigned get_y() { return __nvvm_read_ptx_sreg_tid_y(); }
    __device__ static inline unsigned get_z() { return __nvvm_read_ptx_sreg_tid_z(); }
};

struct clang_block {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ static inline unsigned get_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
    __device__ static inline unsigned get_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
    __device__ static inline unsigned get_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
};

struct clang_block_extent {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ static inline unsigned get_x() { return __nvvm_read_ptx_sreg_ntid_x(); }
    __device__ static inline unsigned get_y() { return __nvvm_read_ptx_sreg_ntid_y(); }
    __device__ static inline unsigned get_z() { return __nvvm_read_ptx_sreg_ntid_z(); }
};

struct clang_grid_extent {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ static inline unsigned get_x() { return __nvvm_read_ptx_sreg_nctaid_x(); }
    __device__ static inline unsigned get_y() { return __nvvm_read_ptx_sreg_nctaid_y(); }
    __device__ static inline unsigned get_z() { return __nvvm_read_ptx_sreg_nctaid_z(); }
};

static const __device__ clang_thread threadIdx;
static const __device__ clang_block blockIdx;
static const __device__ clang_block_extent blockDim;
static const __device__ clang_grid_extent gridDim;

__device__ static inline int atomicAdd(int* p, int v) { return __nvvm_atom_add_gen_i(p, v); }
__device__ static inline unsigned atomicAdd(unsigned* p, unsigned v) { return __nvvm_atom_add_gen_i((int*)p, v); }
__device__ static inline clang_u64 atomicAdd(clang_u64* p, clang_u64 v) {
    return __nvvm_atom_add_gen_ll((long long*)p, v);
}
__device__ static inline int atomicMin(int* p, int v) { return __nvvm_atom_min_gen_i(p, v); }
__device__ static inline int atomicMax(int* p, int v) { return __nvvm_atom_max_gen_i(p, v); }
__device__ static inline int atomicCAS(int* p, int a, int b) { return __nvvm_atom_cas_gen_i(p, a, b); }
__device__ static inline float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
__device__ static inline double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
__device__ static inline float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
__device__ static inline double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
__device__ static inline float __fsub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
__device__ static inline int min(int a, int b) { return a < b ? a : b; }
__device__ static inline int max(int a, int b) { return a > b ? a : b; }
__device__ static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
__device__ static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
__device__ static inline float min(float a, float b) { return __nvvm_fmin_f(a, b); }
__device__ static inline float max(float a, float b) { return __nvvm_fmax_f(a, b); }
__device__ static inline float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
__device__ static inline float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
__device__ static inline float fabsf(float a) { return __nvvm_fabs_f(a); }
__device__ static inline float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
__device__ static inline double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
__device__ static inline float floorf(float a) { return __nvvm_floor_f(a); }
__device__ static inline float ceilf(float a) { return __nvvm_ceil_f(a); }
__device__ static inline float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
__device__ static inline void __threadfence() { __nvvm_membar_gl(); }
__device__ static inline void __threadfence_block() { __nvvm_membar_cta(); }
__device__ static inline void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
__device__ static inline int __shfl_sync(unsigned m, int v, int lane) { return __nvvm_shfl_sync_idx_i32(m, v, lane, 31); }
__device__ static inline int __shfl_up_sync(unsigned m, int v, int d) { return __nvvm_shfl_sync_up_i32(m, v, d, 0); }
__device__ static inline int __shfl_down_sync(unsigned m, int v, int d) { return __nvvm_shfl_sync_down_i32(m, v, d, 31); }
__device__ static inline int __shfl_xor_sync(unsigned m, int v, int l) { return __nvvm_shfl_sync_bfly_i32(m, v, l, 31); }
__device__ static inline float __shfl_sync(unsigned m, float v, int lane) { return __nvvm_shfl_sync_idx_f32(m, v, lane, 31); }
__device__ static inline float __shfl_up_sync(unsigned m, float v, int d) { return __nvvm_shfl_sync_up_f32(m, v, d, 0); }
__device__ static inline float __shfl_down_sync(unsigned m, float v, int d) { return __nvvm_shfl_sync_down_f32(m, v, d, 31); }
__device__ static inline float __shfl_xor_sync(unsigned m, float v, int l) { return __nvvm_shfl_sync_bfly_f32(m, v, l, 31); }

#endif
