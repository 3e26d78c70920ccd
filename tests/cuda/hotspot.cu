// Temperature of a chip, with a pyramid of two steps a launch in shared memory, as Rodinia's hotspot.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
#define B 16
#define STEPS 2
extern "C" __global__ void hotspot(const float* power, const float* in, float* out, int w, int h, float cap, float rx, float ry, float rz) {
    __shared__ float t[B][B], p[B][B], next[B][B];
    const int inner = B - 2 * STEPS;
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * inner - STEPS + tx, y = (int)blockIdx.y * inner - STEPS + ty;
    bool inside = x >= 0 && x < w && y >= 0 && y < h;
    if (inside) {
        t[ty][tx] = in[y * w + x];
        p[ty][tx] = power[y * w + x];
    }
    __syncthreads();
    int left = x <= 0 ? tx : tx - 1, right = x >= w - 1 ? tx : tx + 1;
    int up = y <= 0 ? ty : ty - 1, down = y >= h - 1 ? ty : ty + 1;
    bool computed = false;
    for (int s = 1; s <= STEPS; s++) {
        computed = false;
        if (inside && tx >= s && tx < B - s && ty >= s && ty < B - s) {
            computed = true;
            next[ty][tx] = t[ty][tx] + cap * (p[ty][tx] + (t[down][tx] + t[up][tx] - 2.0f * t[ty][tx]) * ry
                                              + (t[ty][right] + t[ty][left] - 2.0f * t[ty][tx]) * rx + (80.0f - t[ty][tx]) * rz);
        }
        __syncthreads();
        if (s == STEPS) break;
        if (computed) t[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) out[y * w + x] = next[ty][tx];
}
