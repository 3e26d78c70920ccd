// A layer forward with a log-step reduction in shared memory, then its weights adjusted, as Rodinia's backprop.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
#define H 16
extern "C" __global__ void layer_forward(const float* input, const float* weights, float* partial, int hidden) {
    __shared__ float node[H], w[H][H];
    int ty = threadIdx.y, tx = threadIdx.x;
    int index = (hidden + 1) * H * blockIdx.y + (hidden + 1) * ty + tx + 1 + (hidden + 1);
    if (tx == 0) node[ty] = input[H * blockIdx.y + ty + 1];
    __syncthreads();
    w[ty][tx] = weights[index];
    __syncthreads();
    w[ty][tx] = w[ty][tx] * node[ty];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        int step = 1 << i;
        if (ty % step == 0) w[ty][tx] = w[ty][tx] + w[ty + step / 2][tx];
        __syncthreads();
    }
    if (ty == 0) partial[blockIdx.y * hidden + tx] = w[0][tx];
}

extern "C" __global__ void adjust_weights(const float* delta, int hidden, const float* layer, float* weights, float* old) {
    int ty = threadIdx.y, tx = threadIdx.x;
    int index = (hidden + 1) * H * blockIdx.y + (hidden + 1) * ty + tx + 1 + (hidden + 1);
    int y = H * blockIdx.y + ty + 1, x = tx + 1;
    float change = 0.3f * delta[x] * layer[y] + 0.3f * old[index];
    weights[index] += change;
    old[index] = change;
    __syncthreads();
    if (ty == 0 && blockIdx.y == 0) {
        float bias = 0.3f * delta[x] + 0.3f * old[x];
        weights[x] += bias;
        old[x] = bias;
    }
}
