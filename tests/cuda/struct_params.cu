// A large structure by value as kernel parameter, with arrays indexed at run time and pointers inside.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug 12.9:compute_120
// clang: sm_70 sm_70:O0
struct Plan {
    unsigned char kind;
    short steps[7];
    double weights[4];
    struct {
        int low, high;
    } ranges[3];
    float scale;
};

extern "C" __global__ void struct_params(Plan plan, const int* source, int* target, char sign, short shift, unsigned char count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = source[i];
    for (int k = 0; k < count; k++) v += plan.steps[(i + k) % 7];
    int r = i % 3;
    if (v < plan.ranges[r].low) v = plan.ranges[r].low;
    if (v > plan.ranges[r].high) v = plan.ranges[r].high;
    target[i] = (int)(v * plan.weights[i & 3] * plan.scale) * sign + shift + plan.kind;
}
