// Rotates a picture with bilinear filtering and clamped addresses.
// targets: 12.9:compute_75 11.8:compute_52
// options: --fmad=false
extern "C" __global__ void bilinear(const unsigned char* in, unsigned char* out, int w, int h, float c, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = x - w * 0.5f, v = y - h * 0.5f;
    float fx = c * u - s * v + w * 0.5f, fy = s * u + c * v + h * 0.5f;
    float bx = floorf(fx), by = floorf(fy), tx = fx - bx, ty = fy - by;
    int x0 = max(0, min((int)bx, w - 1)), x1 = max(0, min((int)bx + 1, w - 1));
    int y0 = max(0, min((int)by, h - 1)), y1 = max(0, min((int)by + 1, h - 1));
    float top = in[y0 * w + x0] * (1.0f - tx) + in[y0 * w + x1] * tx;
    float bottom = in[y1 * w + x0] * (1.0f - tx) + in[y1 * w + x1] * tx;
    float value = top * (1.0f - ty) + bottom * ty;
    out[y * w + x] = (unsigned char)fminf(fmaxf(value + 0.5f, 0.0f), 255.0f);
}
