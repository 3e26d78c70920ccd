// Writes past the end of the block's shared memory.
// targets: 12.9:compute_80
// options: -lineinfo
// host: no
extern "C" __global__ void shared_overrun(int* out, int at) {
    __shared__ int s[32];
    s[threadIdx.x == 9 ? at : threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
