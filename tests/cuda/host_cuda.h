// Runs a CUDA source on the host, to check the references without a GPU: each thread of a block is
// a fiber, blocks run one after another, and collective operations switch fibers until all the
// lanes that take part have arrived. Just what the corpus needs of CUDA is here.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __shared__ static
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __CUDA_ON_HOST__ 1

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
#define VECTOR_TYPES(T, N, A2, A4)                         \
    struct alignas(A2) N##2 { T x, y; };                   \
    struct N##3 { T x, y, z; };                            \
    struct alignas(A4) N##4 { T x, y, z, w; };             \
    inline N##2 make_##N##2(T x, T y) { return {x, y}; }   \
    inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; } \
    inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
VECTOR_TYPES(float, float, 8, 16)
VECTOR_TYPES(int, int, 8, 16)
VECTOR_TYPES(unsigned, uint_, 8, 16)
VECTOR_TYPES(unsigned char, uchar, 2, 4)
VECTOR_TYPES(short, short, 4, 8)
VECTOR_TYPES(unsigned short, ushort, 4, 8)
VECTOR_TYPES(char, char, 2, 4)
VECTOR_TYPES(long long, longlong, 16, 16)
VECTOR_TYPES(double, double, 16, 16)
typedef uint_2 uint2;
typedef uint_4 uint4;
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

inline dim3 threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;
alignas(256) inline char host_dynamic_shared[1 << 17];

namespace host {
struct Exchange {
    uint64_t slot[2][32];
    unsigned count[32] = {};
};
struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    dim3 thread;
    bool done = false;
};
inline std::vector<Fiber> fibers;
inline std::vector<std::map<unsigned, Exchange>> exchanges;
inline ucontext_t scheduler;
inline size_t current;
inline size_t live, arrived;
inline unsigned generation;
inline int votes[3][2];
inline std::function<void()> body;

inline void yield() {
    dim3 saved = threadIdx;
    swapcontext(&fibers[current].context, &scheduler);
    threadIdx = saved;
}
inline void release() {
    if (live > 0 && arrived == live) {
        arrived = 0;
        generation++;
    }
}
inline void barrier() {
    unsigned mine = generation;
    arrived++;
    release();
    while (generation == mine) yield();
}
inline unsigned linear() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned lane() { return linear() & 31; }
inline void entry() {
    threadIdx = fibers[current].thread;
    body();
    fibers[current].done = true;
    live--;
    release();
    swapcontext(&fibers[current].context, &scheduler);
}
inline void run_block() {
    size_t count = blockDim.x * blockDim.y * blockDim.z;
    fibers.resize(count);
    exchanges.assign((count + 31) / 32, {});
    live = count;
    arrived = 0;
    for (size_t i = 0; i < count; i++) {
        Fiber& f = fibers[i];
        f.done = false;
        f.stack.resize(1 << 16);
        f.thread = {unsigned(i % blockDim.x), unsigned(i / blockDim.x % blockDim.y), unsigned(i / blockDim.x / blockDim.y)};
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.data();
        f.context.uc_stack.ss_size = f.stack.size();
        f.context.uc_link = nullptr;
        makecontext(&f.context, entry, 0);
    }
    while (live > 0) {
        for (current = 0; current < count; current++) {
            if (!fibers[current].done) swapcontext(&scheduler, &fibers[current].context);
        }
    }
}
// The values that all lanes of the mask brought to this operation.
inline const uint64_t* collect(unsigned mask, uint64_t value) {
    Exchange& e = exchanges[linear() / 32][mask];
    unsigned me = lane(), mine = ++e.count[me];
    e.slot[mine & 1][me] = value;
    size_t first = linear() / 32 * 32;
    for (unsigned l = 0; l < 32; l++) {
        while (mask >> l & 1 && first + l < fibers.size() && !fibers[first + l].done && int(e.count[l] - mine) < 0) yield();
    }
    return e.slot[mine & 1];
}
template <class T>
uint64_t pack(T v) {
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof(T));
    return bits;
}
template <class T>
T unpack(uint64_t bits) {
    T v;
    memcpy(&v, &bits, sizeof(T));
    return v;
}
template <class T>
T shuffle(unsigned mask, T v, int source, bool inside) {
    const uint64_t* slots = collect(mask, pack(v));
    return inside ? unpack<T>(slots[source & 31]) : v;
}
template <class... A, size_t... I>
void call(void (*kernel)(A...), const std::vector<std::string>& args, std::index_sequence<I...>) {
    auto read = [&](auto* value, const std::string& bytes) {
        if (bytes.size() != sizeof(*value)) fprintf(stderr, "argument of %zu bytes for %zu\n", bytes.size(), sizeof(*value)), exit(1);
        memcpy((void*)value, bytes.data(), sizeof(*value));
    };
    std::tuple<std::remove_cv_t<A>...> values;
    (read(&std::get<I>(values), args[I]), ...);
    body = [&] { kernel(std::get<I>(values)...); };
    for (unsigned z = 0; z < gridDim.z; z++)
        for (unsigned y = 0; y < gridDim.y; y++)
            for (unsigned x = 0; x < gridDim.x; x++) {
                blockIdx = {x, y, z};
                run_block();
            }
}
template <class... A>
void launch(void (*kernel)(A...), const std::vector<std::string>& args) {
    if (args.size() != sizeof...(A)) fprintf(stderr, "%zu arguments for %zu\n", args.size(), sizeof...(A)), exit(1);
    call(kernel, args, std::index_sequence_for<A...>{});
}
}  // namespace host

// Barriers, votes and shuffles.
inline void __syncthreads() { host::barrier(); }
inline void __syncwarp(unsigned mask = ~0u) { host::collect(mask, 0); }
inline int host_vote(int p, int kind) {
    static int sums[2][3];
    unsigned g = host::generation & 1;
    if (host::arrived == 0) sums[g][0] = sums[g][1] = 0;
    sums[g][0] += p != 0;
    sums[g][1] += 1;
    host::barrier();
    return kind == 0 ? sums[g][0] : kind == 1 ? sums[g][0] == sums[g][1] : sums[g][0] > 0;
}
inline int __syncthreads_count(int p) { return host_vote(p, 0); }
inline int __syncthreads_and(int p) { return host_vote(p, 1); }
inline int __syncthreads_or(int p) { return host_vote(p, 2); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { host::yield(); }
template <class T>
T __shfl_sync(unsigned m, T v, int src, int width = 32) {
    int base = host::lane() & ~(width - 1);
    return host::shuffle(m, v, base + (src & (width - 1)), true);
}
template <class T>
T __shfl_up_sync(unsigned m, T v, unsigned d, int width = 32) {
    int lane = host::lane(), base = lane & ~(width - 1), src = lane - int(d);
    return host::shuffle(m, v, src, src >= base);
}
template <class T>
T __shfl_down_sync(unsigned m, T v, unsigned d, int width = 32) {
    int lane = host::lane(), end = lane | (width - 1), src = lane + int(d);
    return host::shuffle(m, v, src, src <= end);
}
template <class T>
T __shfl_xor_sync(unsigned m, T v, int d, int width = 32) {
    int lane = host::lane(), end = lane | (width - 1), src = lane ^ d;
    return host::shuffle(m, v, src, src <= end);
}
inline unsigned __ballot_sync(unsigned m, int p) {
    const uint64_t* s = host::collect(m, p != 0);
    unsigned out = 0;
    for (int l = 0; l < 32; l++) out |= (m >> l & 1 && s[l]) << l;
    return out;
}
inline int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
inline int __all_sync(unsigned m, int p) { return __ballot_sync(m, p) == m; }
template <class T>
unsigned __match_any_sync(unsigned m, T v) {
    const uint64_t* s = host::collect(m, host::pack(v));
    unsigned out = 0;
    for (int l = 0; l < 32; l++) out |= (m >> l & 1 && s[l] == host::pack(v)) << l;
    return out;
}
template <class T>
unsigned __match_all_sync(unsigned m, T v, int* pred) {
    unsigned same = __match_any_sync(m, v);
    *pred = same == m;
    return *pred ? m : 0;
}
template <class T, class F>
T host_redux(unsigned m, T v, F f) {
    const uint64_t* s = host::collect(m, host::pack(v));
    bool first = true;
    T out{};
    for (int l = 0; l < 32; l++)
        if (m >> l & 1) out = first ? host::unpack<T>(s[l]) : f(out, host::unpack<T>(s[l])), first = false;
    return out;
}
inline unsigned __reduce_add_sync(unsigned m, unsigned v) { return host_redux(m, v, [](unsigned a, unsigned b) { return a + b; }); }
inline int __reduce_add_sync(unsigned m, int v) { return host_redux(m, v, [](int a, int b) { return a + b; }); }
inline int __reduce_min_sync(unsigned m, int v) { return host_redux(m, v, [](int a, int b) { return std::min(a, b); }); }
inline int __reduce_max_sync(unsigned m, int v) { return host_redux(m, v, [](int a, int b) { return std::max(a, b); }); }
inline unsigned __reduce_min_sync(unsigned m, unsigned v) { return host_redux(m, v, [](unsigned a, unsigned b) { return std::min(a, b); }); }
inline unsigned __reduce_max_sync(unsigned m, unsigned v) { return host_redux(m, v, [](unsigned a, unsigned b) { return std::max(a, b); }); }
inline unsigned __reduce_and_sync(unsigned m, unsigned v) { return host_redux(m, v, [](unsigned a, unsigned b) { return a & b; }); }
inline unsigned __reduce_or_sync(unsigned m, unsigned v) { return host_redux(m, v, [](unsigned a, unsigned b) { return a | b; }); }
inline unsigned __reduce_xor_sync(unsigned m, unsigned v) { return host_redux(m, v, [](unsigned a, unsigned b) { return a ^ b; }); }

// Atomics: fibers switch nowhere else, so plain operations are atomic.
#define HOST_ATOMIC(NAME, EXPR)                                     \
    template <class T, class U>                                     \
    T NAME(T* p, U operand) {                                       \
        T old = *p, v = (T)operand;                                 \
        *p = EXPR;                                                  \
        return old;                                                 \
    }
HOST_ATOMIC(atomicAdd, T(old + v))
HOST_ATOMIC(atomicSub, T(old - v))
HOST_ATOMIC(atomicMin, old < v ? old : v)
HOST_ATOMIC(atomicMax, old > v ? old : v)
HOST_ATOMIC(atomicAnd, T(old & v))
HOST_ATOMIC(atomicOr, T(old | v))
HOST_ATOMIC(atomicXor, T(old ^ v))
HOST_ATOMIC(atomicInc, T(old >= v ? 0 : old + 1))
HOST_ATOMIC(atomicDec, T(old == 0 || old > v ? v : old - 1))
HOST_ATOMIC(atomicAdd_block, T(old + v))
HOST_ATOMIC(atomicAdd_system, T(old + v))
template <class T, class U>
T atomicExch(T* p, U v) {
    host::yield();
    T old = *p;
    *p = (T)v;
    return old;
}
template <class T, class U, class V>
T atomicCAS(T* p, U compare, V v) {
    host::yield();
    T old = *p;
    if (old == (T)compare) *p = (T)v;
    return old;
}

// Integer intrinsics.
using std::max;
using std::min;
inline unsigned max(unsigned a, int b) { return a > (unsigned)b ? a : b; }
inline unsigned min(unsigned a, int b) { return a < (unsigned)b ? a : b; }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i);
    return r;
}
inline unsigned long long __brevll(unsigned long long v) {
    return (unsigned long long)__brev(unsigned(v)) << 32 | __brev(unsigned(v >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    uint64_t all = (uint64_t)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= unsigned(all >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
    return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return unsigned(((uint64_t)hi << 32 | lo) << (s & 31) >> 32); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { return unsigned(((uint64_t)hi << 32 | lo) >> (s & 31)); }
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? lo : __funnelshift_l(lo, hi, s); }
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? hi : __funnelshift_r(lo, hi, s); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t)a * b >> 32); }
inline int __mulhi(int a, int b) { return int((int64_t)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
inline long long __mul64hi(long long a, long long b) { return (__int128)a * b >> 64; }
inline int __mul24(int a, int b) { return int((int64_t)(a << 8 >> 8) * (b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __sad(int a, int b, unsigned c) { return c + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)); }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
inline int __hadd(int a, int b) { return int(((int64_t)a + b) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((uint64_t)a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((uint64_t)a + b + 1) >> 1); }
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += int8_t(a >> i) * int8_t(b >> i);
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += uint8_t(a >> i) * uint8_t(b >> i);
    return c;
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
    unsigned r = 0;
    for (int i = 0; i < 32; i += 8) r |= unsigned(std::abs(int(uint8_t(a >> i)) - int(uint8_t(b >> i)))) << i;
    return r;
}
inline unsigned __vaddus4(unsigned a, unsigned b) {
    unsigned r = 0;
    for (int i = 0; i < 32; i += 8) r |= unsigned(std::min(255, uint8_t(a >> i) + uint8_t(b >> i))) << i;
    return r;
}

// Reinterpretation and conversion.
inline int __float_as_int(float v) { return std::bit_cast<int>(v); }
inline unsigned __float_as_uint(float v) { return std::bit_cast<unsigned>(v); }
inline float __int_as_float(int v) { return std::bit_cast<float>(v); }
inline float __uint_as_float(unsigned v) { return std::bit_cast<float>(v); }
inline long long __double_as_longlong(double v) { return std::bit_cast<long long>(v); }
inline double __longlong_as_double(long long v) { return std::bit_cast<double>(v); }
inline int __double2hiint(double v) { return int(std::bit_cast<uint64_t>(v) >> 32); }
inline int __double2loint(double v) { return int(std::bit_cast<uint64_t>(v)); }
inline double __hiloint2double(int hi, int lo) { return std::bit_cast<double>((uint64_t)(unsigned)hi << 32 | (unsigned)lo); }
inline int __float2int_rn(float v) { return (int)rintf(v); }
inline int __float2int_rz(float v) { return (int)v; }
inline int __float2int_rd(float v) { return (int)floorf(v); }
inline int __float2int_ru(float v) { return (int)ceilf(v); }
inline float __int2float_rn(int v) { return (float)v; }
inline float __uint2float_rn(unsigned v) { return (float)v; }

// Arithmetic whose rounding is stated; the host compiler is told not to contract.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float a) { return expf(a); }
inline float __logf(float a) { return logf(a); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float rsqrtf(float a) { return float(1.0 / sqrt((double)a)); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __saturatef(float a) { return a > 0 ? std::min(a, 1.0f) : 0.0f; }
inline float normcdff(float x) { return float(0.5 * erfc(-(double)x * M_SQRT1_2)); }
inline float exp10f(float x) { return float(pow(10.0, x)); }
inline double sinpi(double x) { return sin(M_PI * x); }
inline float sinpif(float x) { return x == floorf(x) ? 0.0f : float(sin(M_PI * (double)x)); }
inline float cospif(float x) { return float(cos(M_PI * (double)x)); }
inline float rcbrtf(float x) { return float(1 / cbrt((double)x)); }
template <class T>
T __ldg(const T* p) { return *p; }
template <class T>
T __ldcg(const T* p) { return *p; }
template <class T>
T __ldcs(const T* p) { return *p; }
template <class T>
void __stcs(T* p, T v) { *p = v; }
template <class T>
void __stcg(T* p, T v) { *p = v; }
