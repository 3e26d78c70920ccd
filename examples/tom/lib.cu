// LIBOR market model by Monte Carlo: a portfolio's value alone, and with its derivatives. The algorithm and layout of the set of
// GPGPU-Sim: numbers of the market in constant memory, a thread's rates, shocks and history in its local memory.
// targets: 12.9:compute_75
#define RATES 80
#define MATURITIES 40
#define OPTIONS 15

__constant__ int rates, maturities, options, expiry[OPTIONS];
__constant__ float delta, swaprates[OPTIONS], lambda[RATES];

// Rates along a path.
__device__ void walk(float* rate, const float* shocks) {
    for (int n = 0; n < maturities; n++) {
        float z = sqrtf(delta) * shocks[n], v = 0.0f;
        for (int i = n + 1; i < rates; i++) {
            float lam = lambda[i - n - 1], con = delta * lam;
            v += con * rate[i] / (1.0f + delta * rate[i]);
            rate[i] *= expf(con * v + lam * (z - 0.5f * con));
        }
    }
}

// The same, and the rates of each maturity for the way back.
__device__ void walk_b(float* rate, const float* shocks, float* history) {
    for (int i = 0; i < rates; i++) history[i] = rate[i];
    for (int n = 0; n < maturities; n++) {
        float z = sqrtf(delta) * shocks[n], v = 0.0f;
        for (int i = n + 1; i < rates; i++) {
            float lam = lambda[i - n - 1], con = delta * lam;
            v += con * rate[i] / (1.0f + delta * rate[i]);
            rate[i] *= expf(con * v + lam * (z - 0.5f * con));
            history[i + (n + 1) * rates] = rate[i];
        }
    }
}

// Back along the path: derivatives by the rates of its end become those by the rates of its begin.
__device__ void back_b(float* back, const float* history) {
    for (int n = maturities - 1; n >= 0; n--) {
        float v = 0.0f;
        for (int i = rates - 1; i > n; i--) {
            float old = history[i + n * rates], now = history[i + (n + 1) * rates], con = delta * lambda[i - n - 1];
            v += con * now * back[i];
            float share = 1.0f / (1.0f + delta * old);
            back[i] = back[i] * (now / old) + v * con * share * share;
        }
    }
}

__device__ float portfolio(const float* rate) {
    float bonds[MATURITIES], swaps[MATURITIES];
    float b = 1.0f, s = 0.0f, value = 0.0f;
    for (int n = maturities; n < rates; n++) {
        b = b / (1.0f + delta * rate[n]);
        s = s + delta * b;
        bonds[n - maturities] = b;
        swaps[n - maturities] = s;
    }
    for (int m = 0; m < options; m++) {
        int k = expiry[m] - 1;
        float swap = bonds[k] + swaprates[m] * swaps[k] - 1.0f;
        if (swap < 0.0f) value += -100.0f * swap;
    }
    b = 1.0f;
    for (int n = 0; n < maturities; n++) b = b / (1.0f + delta * rate[n]);
    return b * value;
}

// The value, and in `back` its derivatives by the rates; both may be one array.
__device__ float portfolio_b(const float* rate, float* back) {
    float bonds[MATURITIES], swaps[MATURITIES], bonds_b[MATURITIES], swaps_b[MATURITIES];
    float b = 1.0f, s = 0.0f, value = 0.0f;
    for (int m = 0; m < rates - maturities; m++) {
        b = b / (1.0f + delta * rate[m + maturities]);
        s = s + delta * b;
        bonds[m] = b;
        swaps[m] = s;
    }
    for (int m = 0; m < rates - maturities; m++) {
        bonds_b[m] = 0.0f;
        swaps_b[m] = 0.0f;
    }
    for (int n = 0; n < options; n++) {
        int m = expiry[n] - 1;
        float swap = bonds[m] + swaprates[n] * swaps[m] - 1.0f;
        if (swap < 0.0f) {
            value += -100.0f * swap;
            swaps_b[m] += -100.0f * swaprates[n];
            bonds_b[m] += -100.0f;
        }
    }
    for (int m = rates - maturities - 1; m >= 0; m--) {
        float growth = 1.0f + delta * rate[m + maturities];
        bonds_b[m] += delta * swaps_b[m];
        back[m + maturities] = -bonds_b[m] * bonds[m] * (delta / growth);
        if (m > 0) {
            swaps_b[m - 1] += swaps_b[m];
            bonds_b[m - 1] += bonds_b[m] / growth;
        }
    }
    b = 1.0f;
    for (int n = 0; n < maturities; n++) b = b / (1.0f + delta * rate[n]);
    value = b * value;
    for (int n = 0; n < maturities; n++) back[n] = -value * delta / (1.0f + delta * rate[n]);
    for (int n = maturities; n < rates; n++) back[n] = b * back[n];
    return value;
}

// Shocks of a path, and the rates of its begin.
__device__ void begin(float* rate, float* shocks, const float* normals, int path, int paths, float initial) {
    for (int i = 0; i < maturities; i++) shocks[i] = normals[i * paths + path];
    for (int i = 0; i < rates; i++) rate[i] = initial;
}

extern "C" __global__ void with_derivatives(const float* normals, float* values, float* derivatives, float initial, int paths) {
    int threads = gridDim.x * blockDim.x;
    float rate[RATES], shocks[MATURITIES], history[RATES * (MATURITIES + 1)];
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += threads) {
        begin(rate, shocks, normals, path, paths, initial);
        walk_b(rate, shocks, history);
        values[path] = portfolio_b(rate, rate);
        back_b(rate, history);
        derivatives[path] = rate[RATES - 1];
    }
}

extern "C" __global__ void values_alone(const float* normals, float* values, float initial, int paths) {
    int threads = gridDim.x * blockDim.x;
    float rate[RATES], shocks[MATURITIES];
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += threads) {
        begin(rate, shocks, normals, path, paths, initial);
        walk(rate, shocks);
        values[path] = portfolio(rate);
    }
}
