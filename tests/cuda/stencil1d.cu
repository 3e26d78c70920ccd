// A radius-3 stencil with a halo in shared memory, coefficients in constant memory set from the host.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
// options: --fmad=false
#define R 3
__constant__ float weights[2 * R + 1];

extern "C" __global__ void stencil1d(const float* in, float* out, int n) {
    __shared__ float s[64 + 2 * R];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + R;
    s[t] = i < n ? in[i] : 0.0f;
    if (threadIdx.x < R) {
        s[t - R] = i >= R ? in[i - R] : 0.0f;
        s[t + 64] = i + 64 < n ? in[i + 64] : 0.0f;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -R; k <= R; k++) sum = fmaf(weights[k + R], s[t + k], sum);
    out[i] = sum;
}
