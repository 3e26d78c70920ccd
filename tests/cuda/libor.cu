// Paths of forward rates with their value and its derivative by an adjoint sweep, rates in local arrays, as the LIBOR benchmark.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
#define N 12
__constant__ float volatility[N];

extern "C" __global__ void libor(const float* normals, float* values, float* deltas, float delta, float initial, int maturities, int paths) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= paths) return;
    float rates[N], history[N][4];
    for (int k = 0; k < N; k++) rates[k] = initial;
    for (int m = 0; m < maturities; m++) {
        float z = normals[m * paths + i], drift = 0.0f;
        for (int k = m + 1; k < N; k++) {
            float vol = volatility[k - m - 1];
            float share = delta * rates[k] / (1.0f + delta * rates[k]);
            drift += vol * share;
            float up = vol * (drift * delta + 0.5f * z);
            rates[k] = rates[k] * (1.0f + up + 0.5f * up * up);
            history[k][m & 3] = up;
        }
    }
    float bond = 1.0f, value = 0.0f;
    for (int k = maturities; k < N; k++) {
        bond = bond / (1.0f + delta * rates[k]);
        float gain = rates[k] - 0.05f;
        if (gain > 0.0f) value += gain * bond;
    }
    float adjoint = 0.0f;
    for (int m = maturities - 1; m >= 0; m--)
        for (int k = N - 1; k > m; k--) adjoint = adjoint * 0.5f + history[k][m & 3] * (float)(k - m);
    values[i] = value * 100.0f;
    deltas[i] = adjoint;
}
