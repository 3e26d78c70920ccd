// knn of Table I: how far each place is from one, as in Rodinia's nn; the host takes the nearest.
// targets: 12.9:compute_75
// options: --fmad=false
extern "C" __global__ void __launch_bounds__(256)
knn(const float2* __restrict__ places, float* __restrict__ distances, int n, float x, float y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 place = places[i];
        float dx = x - place.x, dy = y - place.y;
        distances[i] = sqrtf(dx * dx + dy * dy);
    }
}
