// Writes far past the end of its buffer from one thread.
// targets: 12.9:compute_80
// options: -lineinfo
// host: no
extern "C" __global__ void out_of_bounds(int* out, long long far) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i == 37 ? far : i] = i;
}
