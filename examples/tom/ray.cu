// Ray tracing: spheres over a plane, with shadows and reflection. The algorithm and layout of the set of GPGPU-Sim: the scene in
// constant memory, the light of each reflection on a stack in the thread's local memory.
// targets: 12.9:compute_75
// options: --fmad=false
#define LEVELS 5
#define OBJECTS 5
#define FAR 10000.0f

// A sphere, or the plane through its centre.
struct Object {
    float x, y, z, radius, red, green, blue, is_plane;
};

__constant__ Object objects[OBJECTS];
// Rows: right, up, forward, each with a coordinate of the eye.
__constant__ float4 view[3];

__device__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float3 scaled(float3 a, float s) {
    return make_float3(a.x * s, a.y * s, a.z * s);
}

__device__ float3 sum(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

__device__ float3 difference(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ float3 normal(float3 a) {
    return scaled(a, 1.0f / sqrtf(dot(a, a)));
}

// How far it is to the object; 0 where the ray misses it.
__device__ float distance_to(const Object& object, float shift, float3 from, float3 to) {
    float3 centre = make_float3(object.x + shift, object.y, object.z);
    if (object.is_plane != 0.0f) {
        if (fabsf(to.y) < 0.0001f) return 0.0f;
        float t = -(from.y - centre.y) / to.y;
        return t > 0.0f ? t : 0.0f;
    }
    float3 way = difference(centre, from);
    float along = dot(way, to), away = dot(way, way), radius = object.radius * object.radius;
    if (along < 0.0f && away > radius) return 0.0f;
    float beside = away - along * along;
    if (beside > radius) return 0.0f;
    float half = sqrtf(radius - beside);
    return away > radius ? along - half : along + half;
}

// Whether nothing lies between the point and the light.
__device__ bool is_lit(float shift, float3 from, float3 to, float3 light) {
    float3 way = difference(light, from);
    float room = dot(way, way);
    from = sum(from, scaled(to, 0.0001f));
    for (int k = 0; k < OBJECTS; k++) {
        float t = distance_to(objects[k], shift, from, to);
        float3 at = sum(from, scaled(to, t));
        if (t > 0.0f && dot(at, at) <= room) return false;
    }
    return true;
}

__device__ float power_50(float x) {
    float x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8;
    return x16 * x16 * x16 * x2;
}

__device__ unsigned byte_of(float x) {
    return (unsigned)(fminf(fmaxf(x, 0.0f), 1.0f) * 255.0f);
}

extern "C" __global__ void trace(unsigned* image, int width, int height, int levels, float shift, float focus) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float4 stack[LEVELS];
    for (int level = 0; level < levels; level++) stack[level] = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
    if (px >= width || py >= height) return;
    image[px + py * width] = 0;
    float pixel = 2.0f / (float)min(width, height);
    float3 from = make_float3(view[0].w, view[1].w, view[2].w);
    float3 ahead = scaled(make_float3(view[2].x, view[2].y, view[2].z), focus);
    float3 right = scaled(make_float3(view[0].x, view[0].y, view[0].z), ((float)px - (float)width * 0.5f) * pixel);
    float3 up = scaled(make_float3(view[1].x, view[1].y, view[1].z), ((float)py - (float)height * 0.5f) * pixel);
    float3 to = normal(sum(sum(ahead, right), up));
    const float3 light = make_float3(10.0f, 10.0f, 10.0f);
    int hits = 0;
    for (int level = 0; level < levels && hits == level; level++) {
        float nearest = FAR;
        int which = 0;
        for (int k = 0; k < OBJECTS; k++) {
            float t = distance_to(objects[k], shift, from, to);
            if (t > 0.0f && t < nearest) {
                nearest = t;
                which = k;
            }
        }
        if (nearest < FAR) {
            hits++;
            const Object& object = objects[which];
            float3 at = sum(from, scaled(to, nearest));
            float3 to_light = normal(difference(light, at)), to_eye = normal(difference(from, at));
            float3 upright = make_float3(0.0f, 1.0f, 0.0f);
            if (object.is_plane == 0.0f) upright = normal(difference(at, make_float3(object.x + shift, object.y, object.z)));
            float3 facing = dot(to_eye, upright) < 0.0f ? scaled(upright, -1.0f) : upright;
            stack[level] = make_float4(0.05f * object.red, 0.05f * object.green, 0.05f * object.blue, 0.05f);
            float lit = dot(facing, to_light);
            if (lit > 0.0f && is_lit(shift, at, to_light, light)) {
                float share = 0.3f * fminf(1.0f, lit);
                float shine = dot(facing, normal(sum(to_light, to_eye)));
                shine = 0.8f * power_50(fmaxf(0.0f, fminf(1.0f, shine)));
                stack[level].x += share * object.red + shine;
                stack[level].y += share * object.green + shine;
                stack[level].z += share * object.blue + shine;
            }
            to = normal(difference(scaled(upright, 2.0f * dot(upright, to_eye)), to_eye));
            from = sum(at, scaled(to, 0.0001f));
        }
    }
    for (int level = hits - 1; level > 0; level--) {
        stack[level - 1].x += 0.8f * stack[level].x;
        stack[level - 1].y += 0.8f * stack[level].y;
        stack[level - 1].z += 0.8f * stack[level].z;
        stack[level - 1].w += 0.8f * stack[level].w;
    }
    image[px + py * width] +=
        byte_of(stack[0].w) << 24 | byte_of(stack[0].z) << 16 | byte_of(stack[0].y) << 8 | byte_of(stack[0].x);
}
