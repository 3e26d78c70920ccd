// Speckle-reducing diffusion in two kernels with precomputed neighbour indices, as Rodinia's srad.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false -lineinfo
extern "C" __global__ void srad_coefficient(const float* image, const int* north, const int* south, const int* west, const int* east,
                                            float* dn, float* ds, float* dw, float* de, float* coefficient, int rows, int cols, float q0) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int r = i % rows, c = i / rows;
    float v = image[i];
    float n = image[north[r] + rows * c] - v, s = image[south[r] + rows * c] - v;
    float w = image[r + rows * west[c]] - v, e = image[r + rows * east[c]] - v;
    float g2 = (n * n + s * s + w * w + e * e) / (v * v);
    float l = (n + s + w + e) / v;
    float num = 0.5f * g2 - 0.0625f * (l * l), den = 1.0f + 0.25f * l;
    float q = num / (den * den);
    float k = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    if (k < 0.0f) k = 0.0f;
    else if (k > 1.0f) k = 1.0f;
    dn[i] = n;
    ds[i] = s;
    dw[i] = w;
    de[i] = e;
    coefficient[i] = k;
}

extern "C" __global__ void srad_update(float* image, const int* south, const int* east, const float* dn, const float* ds,
                                       const float* dw, const float* de, const float* coefficient, int rows, int cols, float lambda) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int r = i % rows, c = i / rows;
    float here = coefficient[i], s = coefficient[south[r] + rows * c], e = coefficient[r + rows * east[c]];
    float divergence = here * dn[i] + s * ds[i] + here * dw[i] + e * de[i];
    image[i] += 0.25f * lambda * divergence;
}
