// Euler's equations of a gas on an unstructured grid of cells with four neighbours. Rodinia's algorithm and layout (by variable).
// targets: 12.9:compute_75
// options: --fmad=false
#define GAMMA 1.4f
#define NEIGHBOURS 4
#define DENSITY 0
#define MOMENTUM 1
#define ENERGY 4
#define VARIABLES 5

struct Flux {
    float density, energy;
    float3 momentum[1];
};

__device__ float3 velocity_of(float density, float3 momentum) {
    return make_float3(momentum.x / density, momentum.y / density, momentum.z / density);
}

__device__ float square(float3 v) {
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

__device__ float pressure_of(float density, float energy, float speed2) {
    return (GAMMA - 1.0f) * (energy - 0.5f * density * speed2);
}

// What flows through a face along x, y and z: momentum by momentum, then energy.
struct Contribution {
    float3 x, y, z, energy;
};

__device__ Contribution contribution_of(float3 momentum, float energy, float pressure, float3 v) {
    Contribution c;
    c.x = make_float3(v.x * momentum.x + pressure, v.x * momentum.y, v.x * momentum.z);
    c.y = make_float3(c.x.y, v.y * momentum.y + pressure, v.y * momentum.z);
    c.z = make_float3(c.x.z, c.y.z, v.z * momentum.z + pressure);
    float all = energy + pressure;
    c.energy = make_float3(v.x * all, v.y * all, v.z * all);
    return c;
}

// The longest step of time that each cell allows.
extern "C" __global__ void step_factor(const float* variables, const float* areas, float* factors, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float density = variables[i + DENSITY * n];
    float3 momentum = make_float3(variables[i + MOMENTUM * n], variables[i + (MOMENTUM + 1) * n], variables[i + (MOMENTUM + 2) * n]);
    float energy = variables[i + ENERGY * n];
    float speed2 = square(velocity_of(density, momentum));
    float pressure = pressure_of(density, energy, speed2);
    float sound = sqrtf(GAMMA * pressure / density);
    factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed2) + sound));
}

// What flows into each cell through its faces; a neighbour -1 is a wall, -2 the far field.
extern "C" __global__ void flux(const int* neighbours, const float* normals, const float* variables, const float* far, float* fluxes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float density = variables[i + DENSITY * n];
    float3 momentum = make_float3(variables[i + MOMENTUM * n], variables[i + (MOMENTUM + 1) * n], variables[i + (MOMENTUM + 2) * n]);
    float energy = variables[i + ENERGY * n];
    float3 v = velocity_of(density, momentum);
    float speed2 = square(v);
    float speed = sqrtf(speed2);
    float pressure = pressure_of(density, energy, speed2);
    float sound = sqrtf(GAMMA * pressure / density);
    Contribution own = contribution_of(momentum, energy, pressure, v);
    float to_density = 0.0f, to_energy = 0.0f;
    float3 to = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < NEIGHBOURS; j++) {
        int nb = neighbours[i + j * n];
        float3 normal = make_float3(normals[i + (j + 0 * NEIGHBOURS) * n], normals[i + (j + 1 * NEIGHBOURS) * n], normals[i + (j + 2 * NEIGHBOURS) * n]);
        if (nb == -1) {
            to.x += normal.x * pressure;
            to.y += normal.y * pressure;
            to.z += normal.z * pressure;
            continue;
        }
        float nb_density, nb_energy;
        float3 nb_momentum;
        if (nb >= 0) {
            nb_density = variables[nb + DENSITY * n];
            nb_momentum = make_float3(variables[nb + MOMENTUM * n], variables[nb + (MOMENTUM + 1) * n], variables[nb + (MOMENTUM + 2) * n]);
            nb_energy = variables[nb + ENERGY * n];
            float3 nb_v = velocity_of(nb_density, nb_momentum);
            float nb_speed2 = square(nb_v);
            float nb_pressure = pressure_of(nb_density, nb_energy, nb_speed2);
            float nb_sound = sqrtf(GAMMA * nb_pressure / nb_density);
            Contribution other = contribution_of(nb_momentum, nb_energy, nb_pressure, nb_v);
            // Artificial viscosity.
            float factor = -sqrtf(square(normal)) * 0.2f * 0.5f * (speed + sqrtf(nb_speed2) + sound + nb_sound);
            to_density += factor * (density - nb_density);
            to_energy += factor * (energy - nb_energy);
            to.x += factor * (momentum.x - nb_momentum.x);
            to.y += factor * (momentum.y - nb_momentum.y);
            to.z += factor * (momentum.z - nb_momentum.z);
            float half = 0.5f * normal.x;
            to_density += half * (nb_momentum.x + momentum.x);
            to_energy += half * (other.energy.x + own.energy.x);
            to.x += half * (other.x.x + own.x.x);
            to.y += half * (other.y.x + own.y.x);
            to.z += half * (other.z.x + own.z.x);
            half = 0.5f * normal.y;
            to_density += half * (nb_momentum.y + momentum.y);
            to_energy += half * (other.energy.y + own.energy.y);
            to.x += half * (other.x.y + own.x.y);
            to.y += half * (other.y.y + own.y.y);
            to.z += half * (other.z.y + own.z.y);
            half = 0.5f * normal.z;
            to_density += half * (nb_momentum.z + momentum.z);
            to_energy += half * (other.energy.z + own.energy.z);
            to.x += half * (other.x.z + own.x.z);
            to.y += half * (other.y.z + own.y.z);
            to.z += half * (other.z.z + own.z.z);
        } else {
            // far: density, momentum, energy, then what flows along x, y, z of momentum and energy.
            float half = 0.5f * normal.x;
            to_density += half * (far[1] + momentum.x);
            to_energy += half * (far[14] + own.energy.x);
            to.x += half * (far[5] + own.x.x);
            to.y += half * (far[8] + own.y.x);
            to.z += half * (far[11] + own.z.x);
            half = 0.5f * normal.y;
            to_density += half * (far[2] + momentum.y);
            to_energy += half * (far[15] + own.energy.y);
            to.x += half * (far[6] + own.x.y);
            to.y += half * (far[9] + own.y.y);
            to.z += half * (far[12] + own.z.y);
            half = 0.5f * normal.z;
            to_density += half * (far[3] + momentum.z);
            to_energy += half * (far[16] + own.energy.z);
            to.x += half * (far[7] + own.x.z);
            to.y += half * (far[10] + own.y.z);
            to.z += half * (far[13] + own.z.z);
        }
    }
    fluxes[i + DENSITY * n] = to_density;
    fluxes[i + MOMENTUM * n] = to.x;
    fluxes[i + (MOMENTUM + 1) * n] = to.y;
    fluxes[i + (MOMENTUM + 2) * n] = to.z;
    fluxes[i + ENERGY * n] = to_energy;
}

// One stage of the Runge-Kutta method: `divisor` is 3, 2, 1.
extern "C" __global__ void time_step(int divisor, const float* old, float* variables, const float* factors, const float* fluxes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float factor = factors[i] / (float)divisor;
    for (int k = 0; k < VARIABLES; k++) variables[i + k * n] = old[i + k * n] + factor * fluxes[i + k * n];
}

// Keeps the variables from before a step.
extern "C" __global__ void keep(const float* variables, float* old, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < VARIABLES; k++) old[i + k * n] = variables[i + k * n];
}
