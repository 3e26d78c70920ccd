// a x + y with the multiply-add fused by the compiler, and a grid-stride loop.
// targets: 12.9:compute_75 11.8:compute_35
// clang: sm_60
// host: contract
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}
