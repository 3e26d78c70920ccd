// Tracking points of a heart wall over frames: each finds where its template correlates best with a window. Rodinia's algorithm.
// targets: 12.9:compute_75
// options: --fmad=false
#define THREADS 256
#define TEMPLATE 16
#define REACH 10
#define OFFSETS (2 * REACH + 1)

// Block p tracks point p: its place moves by the offset, of all within reach, at which frame and template correlate best.
// The template follows what was found. Places are the upper left corners, x then y.
extern "C" __global__ void track(const float* frame, int width, int height, int* places, float* templates, float* found) {
    __shared__ float best[THREADS];
    __shared__ int where[THREADS];
    int point = blockIdx.x, t = threadIdx.x;
    float* own = templates + point * TEMPLATE * TEMPLATE;
    int px = places[2 * point], py = places[2 * point + 1];
    float mean = 0.0f, square = 0.0f;
    for (int k = 0; k < TEMPLATE * TEMPLATE; k++) {
        mean += own[k];
        square += own[k] * own[k];
    }
    const float count = TEMPLATE * TEMPLATE;
    float spread = square - mean * mean / count;
    best[t] = -2.0f;
    where[t] = 0;
    for (int offset = t; offset < OFFSETS * OFFSETS; offset += THREADS) {
        int x = px + offset % OFFSETS - REACH, y = py + offset / OFFSETS - REACH;
        if (x < 0 || y < 0 || x + TEMPLATE > width || y + TEMPLATE > height) continue;
        float sum = 0.0f, squares = 0.0f, product = 0.0f;
        for (int row = 0; row < TEMPLATE; row++) {
            for (int column = 0; column < TEMPLATE; column++) {
                float pixel = frame[(y + row) * width + x + column];
                sum += pixel;
                squares += pixel * pixel;
                product += pixel * own[row * TEMPLATE + column];
            }
        }
        float area = (squares - sum * sum / count) * spread;
        float correlation = area > 0.0f ? (product - sum * mean / count) / sqrtf(area) : -1.0f;
        if (correlation > best[t]) {
            best[t] = correlation;
            where[t] = offset;
        }
    }
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            // Of equal ones the first.
            bool other = best[t + half] > best[t] || (best[t + half] == best[t] && where[t + half] < where[t]);
            if (other) {
                best[t] = best[t + half];
                where[t] = where[t + half];
            }
        }
        __syncthreads();
    }
    int x = px + where[0] % OFFSETS - REACH, y = py + where[0] / OFFSETS - REACH;
    int row = t / TEMPLATE, column = t % TEMPLATE;
    own[t] = 0.75f * own[t] + 0.25f * frame[(y + row) * width + x + column];
    if (t == 0) {
        places[2 * point] = x;
        places[2 * point + 1] = y;
        found[point] = best[0];
    }
}
