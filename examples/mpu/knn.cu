// knn of Table I: how far each place is from one, as in Rodinia's nn; the host takes the nearest. Latitudes
// and longitudes stand apart, so that both are read in order.
// targets: 12.9:compute_75
// options: --fmad=false
extern "C" __global__ void __launch_bounds__(128)
knn(const float* __restrict__ xs, const float* __restrict__ ys, float* __restrict__ distances, int n,
    float x, float y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float dx = x - xs[i], dy = y - ys[i];
        distances[i] = sqrtf(dx * dx + dy * dy);
    }
}
