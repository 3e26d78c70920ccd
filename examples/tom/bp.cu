// Back propagation of a layer with 16 hidden units: partial sums of its inputs, then new weights. Rodinia's algorithm and layout.
// targets: 12.9:compute_75
// options: --fmad=false
#define HIDDEN 16

// Block y takes 16 inputs: each times its 16 weights, summed by pairs of rows. Weights have a row and a column 0 for the bias.
// The weights are left as what was made of them, as the original does: the host brings them again.
extern "C" __global__ void layerforward(const float* inputs, float* weights, float* sums, int hidden) {
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hidden + 1) * HIDDEN * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
    __shared__ float node[HIDDEN];
    __shared__ float product[HIDDEN][HIDDEN];
    if (tx == 0) node[ty] = inputs[HIDDEN * by + ty + 1];
    __syncthreads();
    product[ty][tx] = weights[index];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();
    for (int step = 2; step <= HIDDEN; step *= 2) {
        if (ty % step == 0) product[ty][tx] = product[ty][tx] + product[ty + step / 2][tx];
        __syncthreads();
    }
    weights[index] = product[ty][tx];
    __syncthreads();
    if (tx == 0) sums[by * hidden + ty] = product[tx][ty];
}

// Each weight moves by its gradient and by a part of its last move. Pointers may be equal, so that what is written second is
// computed again, as in the original.
extern "C" __global__ void adjust_weights(const float* delta, int hidden, const float* inputs, float* weights, float* moves) {
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hidden + 1) * HIDDEN * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
    int x = tx + 1, y = HIDDEN * by + ty + 1;
    weights[index] += 0.3f * delta[x] * inputs[y] + 0.3f * moves[index];
    moves[index] = 0.3f * delta[x] * inputs[y] + 0.3f * moves[index];
    __syncthreads();
    if (ty == 0 && by == 0) {
        weights[x] += 0.3f * delta[x] + 0.3f * moves[x];
        moves[x] = 0.3f * delta[x] + 0.3f * moves[x];
    }
}
