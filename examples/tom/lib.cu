// LIBOR market model by Monte Carlo: a portfolio's value with its derivatives, and its value alone. The set of GPGPU-Sim.
// targets: 12.9:compute_75
#define RATES 80
#define MATURITIES 40
#define OPTIONS 15

__constant__ float lambda[RATES];
__constant__ int expiry[OPTIONS];
__constant__ float swaprates[OPTIONS];
__constant__ float delta;

// Rates along a path; `history` keeps those of each maturity, for the way back.
__device__ void path(float* rates, float* history, const float* normals, int stride) {
    float root = sqrtf(delta);
    for (int n = 0; n < MATURITIES; n++) {
        float z = root * normals[n * stride], v = 0.0f;
        for (int i = n + 1; i < RATES; i++) {
            float lam = lambda[i - n - 1];
            float con = delta * lam;
            v += con * rates[i] / (1.0f + delta * rates[i]);
            float growth = expf(con * v + lam * (z - 0.5f * con));
            rates[i] *= growth;
            if (history) history[i + (n + 1) * RATES] = rates[i];
        }
    }
}

__device__ float portfolio(const float* rates) {
    float bonds[RATES], swaps[RATES];
    float b = 1.0f, s = 0.0f, value = 0.0f;
    for (int n = MATURITIES; n < RATES; n++) {
        b = b / (1.0f + delta * rates[n]);
        s = s + delta * b;
        bonds[n] = b;
        swaps[n] = s;
    }
    for (int m = 0; m < OPTIONS; m++) {
        int k = expiry[m] + MATURITIES - 1;
        float swap = bonds[k] + swaprates[m] * swaps[k] - 1.0f;
        if (swap < 0.0f) value += -100.0f * swap;
    }
    for (int n = 0; n < MATURITIES; n++) value = value / (1.0f + delta * rates[n]);
    return value;
}

// The value, and in `back` its derivatives by the rates.
__device__ float portfolio_b(const float* rates, float* back) {
    float bonds[RATES], swaps[RATES], bonds_b[RATES], swaps_b[RATES];
    float b = 1.0f, s = 0.0f, value = 0.0f;
    for (int n = 0; n < RATES - MATURITIES; n++) {
        b = b / (1.0f + delta * rates[MATURITIES + n]);
        s = s + delta * b;
        bonds[n] = b;
        swaps[n] = s;
        bonds_b[n] = swaps_b[n] = 0.0f;
    }
    for (int m = OPTIONS - 1; m >= 0; m--) {
        int k = expiry[m] - 1;
        float swap = bonds[k] + swaprates[m] * swaps[k] - 1.0f;
        if (swap < 0.0f) {
            value += -100.0f * swap;
            swaps_b[k] += -100.0f * swaprates[m];
            bonds_b[k] += -100.0f;
        }
    }
    for (int n = RATES - MATURITIES - 1; n >= 0; n--) {
        bonds_b[n] += delta * swaps_b[n];
        float by_rate = delta * bonds[n] / (1.0f + delta * rates[MATURITIES + n]);
        if (n > 0) {
            swaps_b[n - 1] += swaps_b[n];
            bonds_b[n - 1] += bonds_b[n] / (1.0f + delta * rates[MATURITIES + n]);
        }
        back[MATURITIES + n] = -by_rate * bonds_b[n];
    }
    float discount = 1.0f;
    for (int n = 0; n < MATURITIES; n++) discount = discount / (1.0f + delta * rates[n]);
    value = discount * value;
    for (int n = 0; n < MATURITIES; n++) back[n] = -value * delta / (1.0f + delta * rates[n]);
    for (int n = MATURITIES; n < RATES; n++) back[n] = discount * back[n];
    return value;
}

// Back along the path: derivatives by the rates of its end become the derivative by the last rate at its begin.
__device__ void path_b(float* back, const float* history, const float* normals, int stride) {
    float root = sqrtf(delta);
    for (int n = MATURITIES - 1; n >= 0; n--) {
        float v_b = 0.0f;
        for (int i = RATES - 1; i > n; i--) {
            float old = history[i + n * RATES], now = history[i + (n + 1) * RATES];
            float con = delta * lambda[i - n - 1];
            v_b = v_b + con * now * back[i];
            float share = 1.0f / (1.0f + delta * old);
            back[i] = back[i] * (now / old) + v_b * con * share * share;
        }
    }
}

extern "C" __global__ void with_derivatives(const float* normals, float* values, float* derivatives, float initial, int paths) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float rates[RATES], back[RATES], history[RATES * (MATURITIES + 1)];
    for (int i = thread; i < paths; i += threads) {
        for (int n = 0; n < RATES; n++) {
            rates[n] = initial;
            history[n] = initial;
        }
        path(rates, history, normals + i, paths);
        values[i] = portfolio_b(rates, back);
        path_b(back, history, normals + i, paths);
        derivatives[i] = back[RATES - 1];
    }
}

extern "C" __global__ void values_alone(const float* normals, float* values, float initial, int paths) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float rates[RATES];
    for (int i = thread; i < paths; i += threads) {
        for (int n = 0; n < RATES; n++) rates[n] = initial;
        path(rates, 0, normals + i, paths);
        values[i] = portfolio(rates);
    }
}
