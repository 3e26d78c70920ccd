// Ray tracing: spheres over a chequered plane, with shadows and reflection. The algorithm of the set of GPGPU-Sim.
// targets: 12.9:compute_75
// options: --fmad=false
#define BOUNCES 4
#define FAR 1e20f

struct Sphere {
    float x, y, z, radius, red, green, blue, mirror;
};

struct Hit {
    float t;
    int sphere;
};

// The nearest sphere that a ray meets.
__device__ Hit nearest(const Sphere* spheres, int count, float3 from, float3 to) {
    Hit hit = {FAR, -1};
    for (int k = 0; k < count; k++) {
        float dx = spheres[k].x - from.x, dy = spheres[k].y - from.y, dz = spheres[k].z - from.z;
        float along = dx * to.x + dy * to.y + dz * to.z;
        float inside = along * along - (dx * dx + dy * dy + dz * dz) + spheres[k].radius * spheres[k].radius;
        if (inside > 0.0f) {
            float t = along - sqrtf(inside);
            if (t > 1e-3f && t < hit.t) {
                hit.t = t;
                hit.sphere = k;
            }
        }
    }
    return hit;
}

extern "C" __global__ void trace(const Sphere* spheres, int count, uchar4* image, int width, int height) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float3 from = make_float3(0.0f, 1.0f, -4.0f);
    float3 to = make_float3(((float)px + 0.5f - 0.5f * (float)width) / (float)width,
                            (0.5f * (float)height - (float)py - 0.5f) / (float)width, 1.0f);
    float length = sqrtf(to.x * to.x + to.y * to.y + to.z * to.z);
    to = make_float3(to.x / length, to.y / length, to.z / length);
    const float3 sun = make_float3(0.48f, 0.6f, -0.64f);
    float red = 0.0f, green = 0.0f, blue = 0.0f, weight = 1.0f;
    for (int bounce = 0; bounce < BOUNCES; bounce++) {
        Hit hit = nearest(spheres, count, from, to);
        float plane = to.y < 0.0f ? -from.y / to.y : FAR;
        bool on_plane = plane > 1e-3f && plane < hit.t;
        if (!on_plane && hit.sphere < 0) {
            float sky = 0.5f + 0.5f * to.y;
            red += weight * 0.4f * sky;
            green += weight * 0.6f * sky;
            blue += weight * sky;
            break;
        }
        float t = on_plane ? plane : hit.t;
        float3 at = make_float3(from.x + t * to.x, from.y + t * to.y, from.z + t * to.z);
        float3 normal = make_float3(0.0f, 1.0f, 0.0f);
        float r, g, b, mirror;
        if (on_plane) {
            int square = ((int)floorf(at.x) + (int)floorf(at.z)) & 1;
            r = g = b = square ? 0.9f : 0.2f;
            mirror = 0.2f;
        } else {
            const Sphere s = spheres[hit.sphere];
            normal = make_float3((at.x - s.x) / s.radius, (at.y - s.y) / s.radius, (at.z - s.z) / s.radius);
            r = s.red;
            g = s.green;
            b = s.blue;
            mirror = s.mirror;
        }
        float light = normal.x * sun.x + normal.y * sun.y + normal.z * sun.z;
        if (light < 0.0f || nearest(spheres, count, at, sun).sphere >= 0) light = 0.0f;
        float share = weight * (1.0f - mirror) * (0.2f + 0.8f * light);
        red += share * r;
        green += share * g;
        blue += share * b;
        weight = weight * mirror;
        float turn = 2.0f * (to.x * normal.x + to.y * normal.y + to.z * normal.z);
        to = make_float3(to.x - turn * normal.x, to.y - turn * normal.y, to.z - turn * normal.z);
        from = at;
    }
    image[py * width + px] = make_uchar4((unsigned char)(fminf(red, 1.0f) * 255.0f), (unsigned char)(fminf(green, 1.0f) * 255.0f),
                                         (unsigned char)(fminf(blue, 1.0f) * 255.0f), 255);
}
