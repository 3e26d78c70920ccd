// A small ray caster: spheres in constant memory, nearest hit, one mirror bounce, shading to bytes.
// targets: 12.9:compute_80 11.8:compute_52
// options: --fmad=false
struct Sphere {
    float x, y, z, r2;
    int mirror;
};
__constant__ Sphere spheres[4];

__device__ int nearest(float ox, float oy, float oz, float dx, float dy, float dz, float* at) {
    int hit = -1;
    float best = 1e30f;
    for (int k = 0; k < 4; k++) {
        float cx = spheres[k].x - ox, cy = spheres[k].y - oy, cz = spheres[k].z - oz;
        float b = cx * dx + cy * dy + cz * dz;
        float d = b * b - (cx * cx + cy * cy + cz * cz) + spheres[k].r2;
        if (d < 0.0f) continue;
        float t = b - sqrtf(d);
        if (t > 0.01f && t < best) {
            best = t;
            hit = k;
        }
    }
    *at = best;
    return hit;
}

extern "C" __global__ void ray_spheres(unsigned char* out, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float dx = (px + 0.5f) / w - 0.5f, dy = (py + 0.5f) / h - 0.5f, dz = 1.0f;
    float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz);
    dx *= inverse;
    dy *= inverse;
    dz *= inverse;
    float ox = 0.0f, oy = 0.0f, oz = -3.0f, shade = 0.1f, share = 1.0f;
    for (int bounce = 0; bounce < 3; bounce++) {
        float t;
        int k = nearest(ox, oy, oz, dx, dy, dz, &t);
        if (k < 0) {
            shade += share * 0.25f * (dy + 1.0f);
            break;
        }
        ox += t * dx;
        oy += t * dy;
        oz += t * dz;
        float r = sqrtf(spheres[k].r2);
        float nx = (ox - spheres[k].x) / r, ny = (oy - spheres[k].y) / r, nz = (oz - spheres[k].z) / r;
        float light = fmaxf(0.0f, -(nx * 0.5f + ny * 0.6f + nz * 0.625f));
        shade += share * light * 0.6f;
        if (!spheres[k].mirror) break;
        share *= 0.5f;
        float along = 2.0f * (dx * nx + dy * ny + dz * nz);
        dx -= along * nx;
        dy -= along * ny;
        dz -= along * nz;
    }
    out[py * w + px] = (unsigned char)(fminf(shade, 1.0f) * 255.0f);
}
