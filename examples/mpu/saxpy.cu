// y = a x + y, a thread an element. saxpy.ptx is what NVRTC makes of it:
// nvrtc --gpu-architecture=compute_75 saxpy.cu
extern "C" __global__ void saxpy(unsigned n, float a, const float* x, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
