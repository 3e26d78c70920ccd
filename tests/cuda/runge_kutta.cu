// Runge-Kutta steps of a nonlinear oscillator in double precision, coefficients through a function template and a functor.
// targets: 12.9:compute_80 11.8:compute_60
// options: --fmad=false
struct Oscillator {
    double mu;
    __device__ void operator()(double x, double v, double& dx, double& dv) const {
        dx = v;
        dv = mu * (1.0 - x * x) * v - x;
    }
};

template <class F>
__device__ void advance(const F& f, double& x, double& v, double h) {
    double k1x, k1v, k2x, k2v, k3x, k3v, k4x, k4v;
    f(x, v, k1x, k1v);
    f(x + 0.5 * h * k1x, v + 0.5 * h * k1v, k2x, k2v);
    f(x + 0.5 * h * k2x, v + 0.5 * h * k2v, k3x, k3v);
    f(x + h * k3x, v + h * k3v, k4x, k4v);
    x += h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x);
    v += h / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v);
}

extern "C" __global__ void runge_kutta(const double* mu, double* x, double* v, double h, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Oscillator f = {mu[i]};
    double a = x[i], b = v[i];
    for (int k = 0; k < steps; k++) advance(f, a, b, h);
    x[i] = a;
    v[i] = b;
}
