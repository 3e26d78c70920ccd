// All-pairs gravity with tiles of bodies in shared memory; positions as float4, reciprocal roots rounded from sqrt and division.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
extern "C" __global__ void nbody(const float4* position, float4* acceleration, int n, float softening) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += blockDim.x) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < blockDim.x; k++) {
            float4 other = tile[k];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float d2 = dx * dx + dy * dy + dz * dz + softening;
            float inverse = 1.0f / sqrtf(d2);
            float s = other.w * (inverse * inverse * inverse);
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    if (i < n) acceleration[i] = make_float4(ax, ay, az, 0.0f);
}
