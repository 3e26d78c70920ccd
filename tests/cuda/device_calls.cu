// Calls that stay calls: scalar, structure by value and result, pointer arguments, several results through memory.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug 12.9:compute_75:rdc
// clang: sm_70 sm_70:O0
// options: --fmad=false
struct Vec3 {
    float x, y, z;
};

struct Mixed {
    char tag;
    double weight;
    short count;
    Vec3 where;
};

__device__ __noinline__ Vec3 cross(Vec3 a, Vec3 b) {
    Vec3 c;
    c.x = __fsub_rn(__fmul_rn(a.y, b.z), __fmul_rn(a.z, b.y));
    c.y = __fsub_rn(__fmul_rn(a.z, b.x), __fmul_rn(a.x, b.z));
    c.z = __fsub_rn(__fmul_rn(a.x, b.y), __fmul_rn(a.y, b.x));
    return c;
}

__device__ __noinline__ double weigh(Mixed m, unsigned char scale) {
    return __dmul_rn(m.weight, (double)m.count) + (double)(m.tag * scale);
}

__device__ __noinline__ void divide(int a, int b, int* quotient, int* remainder) {
    *quotient = a / b;
    *remainder = a % b;
}

__device__ __noinline__ unsigned long long mix(unsigned long long a, unsigned b, short c, bool flip) {
    unsigned long long v = a * b + c;
    return flip ? ~v : v;
}

extern "C" __global__ void device_calls(const Vec3* a, const Vec3* b, Vec3* c, const Mixed* m, double* w,
                                        const int* num, const int* den, int* quo, int* rem,
                                        unsigned long long* mixed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = cross(a[i], b[i]);
    w[i] = weigh(m[i], (unsigned char)(i * 7));
    int q, r;
    divide(num[i], den[i], &q, &r);
    quo[i] = q;
    rem[i] = r;
    mixed[i] = mix((unsigned long long)num[i], (unsigned)den[i], (short)i, i & 1);
}
