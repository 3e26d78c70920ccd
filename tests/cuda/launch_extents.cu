// Three-dimensional grids and blocks: every index and extent goes into the output.
// targets: 12.9:compute_80 11.8:compute_52
// clang: sm_70
extern "C" __global__ void launch_extents(int* out, int* extents) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int per = blockDim.x * blockDim.y * blockDim.z;
    out[b * per + t] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
    if (t == 0 && b == 0) {
        extents[0] = gridDim.x;
        extents[1] = gridDim.y;
        extents[2] = gridDim.z;
        extents[3] = blockDim.x;
        extents[4] = blockDim.y;
        extents[5] = blockDim.z;
    }
}
