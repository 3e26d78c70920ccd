// Vector types of every width, loaded, computed and stored; and reinterpreted pointers.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_100
extern "C" __global__ void vector_loads(const uchar4* a, const short4* b, const int2* c, const float4* d, const double2* e, const char2* f,
                                        uchar4* oa, short4* ob, int2* oc, float4* od, double2* oe, char2* of, const int4* bytes, unsigned char* reversed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 va = a[i];
    oa[i] = make_uchar4(va.w, va.z, (unsigned char)(va.y + 1), (unsigned char)(va.x * 2));
    short4 vb = b[i];
    ob[i] = make_short4((short)(vb.x + vb.y), (short)(vb.z - vb.w), (short)(vb.x * vb.z), (short)(vb.w >> 3));
    int2 vc = c[i];
    oc[i] = make_int2(vc.y, vc.x ^ vc.y);
    float4 vd = d[i];
    od[i] = make_float4(vd.w, vd.x + vd.y, vd.y * vd.z, -vd.x);
    double2 ve = e[i];
    oe[i] = make_double2(ve.y, ve.x - ve.y);
    char2 vf = f[i];
    char2 swapped;
    swapped.x = vf.y;
    swapped.y = (char)-vf.x;
    of[i] = swapped;
    int4 v = bytes[i];
    const unsigned char* p = (const unsigned char*)&v;
    for (int k = 0; k < 16; k++) reversed[16 * i + k] = p[15 - k];
}
