// A table of device functions in constant memory, a pointer chosen at run time, and one as an argument.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:rdc 12.9:compute_80:debug
typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ const Operation operations[4] = {add, subtract, multiply, larger};

__device__ __noinline__ int fold(Operation f, const int* values, int count, int first) {
    for (int k = 0; k < count; k++) first = f(first, values[k]);
    return first;
}

typedef float (*Scale)(float);
__device__ __noinline__ float half_of(float v) { return v * 0.5f; }
__device__ __noinline__ float negative(float v) { return -v; }

extern "C" __global__ void function_pointers(const int* which, const int* a, const int* b, int* out, float* scaled, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int w = which[i];
    Operation f = operations[w & 3];
    int v = f(a[i], b[i]);
    v = fold(operations[(w >> 2) & 3], b, 5, v);
    Scale s = w & 16 ? half_of : negative;
    out[i] = v;
    scaled[i] = s((float)a[i]);
}
