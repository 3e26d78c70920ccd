// A convolution layer with rectified outputs, a 2x2 maximum pool and a dense layer, one block an image.
// targets: 12.9:compute_80 11.8:compute_52
extern "C" __global__ void neural_layers(const float* images, const float* kernels, const float* dense, const float* bias, float* out) {
    __shared__ float image[12][12], maps[3][10][10], pooled[75];
    int t = threadIdx.x;
    for (int i = t; i < 144; i += blockDim.x) image[i / 12][i % 12] = images[blockIdx.x * 144 + i];
    __syncthreads();
    for (int i = t; i < 300; i += blockDim.x) {
        int m = i / 100, y = i / 10 % 10, x = i % 10;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 9; k++) sum = fmaf(image[y + k / 3][x + k % 3], kernels[m * 9 + k], sum);
        maps[m][y][x] = fmaxf(sum, 0.0f);
    }
    __syncthreads();
    if (t < 75) {
        int m = t / 25, y = t / 5 % 5 * 2, x = t % 5 * 2;
        pooled[t] = fmaxf(fmaxf(maps[m][y][x], maps[m][y][x + 1]), fmaxf(maps[m][y + 1][x], maps[m][y + 1][x + 1]));
    }
    __syncthreads();
    if (t < 10) {
        float sum = bias[t];
        for (int k = 0; k < 75; k++) sum = fmaf(pooled[k], dense[t * 75 + k], sum);
        out[blockIdx.x * 10 + t] = sum;
    }
}
