// American put by a binomial tree, a block an option, backwards through shared memory.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
#define STEPS 63
extern "C" __global__ void binomial(const double* price, const double* strike, double up, double probability, double discount, double* value) {
    __shared__ double v[STEPS + 1];
    int t = threadIdx.x;
    double s = price[blockIdx.x], x = strike[blockIdx.x];
    double mine = s;
    for (int k = 0; k < STEPS; k++) mine = k < t ? mine * up : mine / up;
    v[t] = fmax(x - mine, 0.0);
    __syncthreads();
    for (int level = STEPS - 1; level >= 0; level--) {
        double next = 0.0;
        if (t <= level) {
            mine = mine * up;
            next = fmax(discount * (probability * v[t + 1] + (1.0 - probability) * v[t]), x - mine);
        }
        __syncthreads();
        if (t <= level) v[t] = next;
        __syncthreads();
    }
    if (t == 0) value[blockIdx.x] = v[0];
}
