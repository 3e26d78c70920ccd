// A switch of forty dense cases over an int.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug
extern "C" __global__ void big_switch(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], r = i;
    switch (v) {
#define CASE(K) case K: r = (r << (K) % 7) + __popc(r ^ (K) * 2654435761u) * ((K) + 3); break;
#define FIVE(K) CASE(K) CASE(K + 1) CASE(K + 2) CASE(K + 3) CASE(K + 4)
        FIVE(0) FIVE(5) FIVE(10) FIVE(15) FIVE(20) FIVE(25) FIVE(30) FIVE(35)
        default: r = -v;
    }
    out[i] = r;
}
