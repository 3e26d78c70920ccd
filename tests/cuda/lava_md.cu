// Forces between particles of neighbouring boxes with a cut-off, double precision, one block a box, as Rodinia's lavaMD.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
#define P 12
extern "C" __global__ void lava_md(const int* neighbours, const double4* particles, double4* forces, double alpha) {
    __shared__ double4 other[P];
    int t = threadIdx.x, box = blockIdx.x;
    double4 me = t < P ? particles[box * P + t] : make_double4(0, 0, 0, 0), f = make_double4(0, 0, 0, 0);
    for (int k = 0; k < 5; k++) {
        int n = neighbours[box * 5 + k];
        if (n < 0) break;
        if (t < P) other[t] = particles[n * P + t];
        __syncthreads();
        if (t < P) {
            for (int j = 0; j < P; j++) {
                double dx = me.x - other[j].x, dy = me.y - other[j].y, dz = me.z - other[j].z;
                double r2 = dx * dx + dy * dy + dz * dz;
                double u = 1.0 / (1.0 + alpha * r2);
                double s = other[j].w * u * u;
                f.x += s * dx;
                f.y += s * dy;
                f.z += s * dz;
                f.w += other[j].w * u;
            }
        }
        __syncthreads();
    }
    if (t < P) forces[box * P + t] = f;
}
