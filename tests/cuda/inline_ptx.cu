// Special registers and instructions by inline PTX: lane and warp numbers, masks, bit fields, predicates, saturation.
// targets: 12.9:compute_80 11.8:compute_52
// host: no
extern "C" __global__ void inline_ptx(const int* in, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane, warp, lt, le, gt, eq, field, inserted, picked, logic, sat;
    int v = in[i];
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    warp = threadIdx.x / 32;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(v), "r"(lane), "r"(7));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(inserted) : "r"(v), "r"(0x55555555), "r"(lane / 2), "r"(lane));
    asm("{\n\t.reg .pred p, q;\n\tsetp.gt.and.s32 p|q, %1, 0, 1;\n\tselp.u32 %0, %2, 7, p;\n\t@!q add.u32 %0, %0, 1;\n\t}" : "=r"(picked) : "r"(v), "r"(lane));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(logic) : "r"(v), "r"(0x0f0f0f0f), "r"(0x33333333));
    asm("add.sat.s32 %0, %1, %2;" : "=r"(sat) : "r"(v << 20), "r"(0x7fff0000));
    unsigned* o = out + 10 * i;
    o[0] = lane + 100 * warp;
    o[1] = lt;
    o[2] = le;
    o[3] = gt;
    o[4] = eq;
    o[5] = field;
    o[6] = inserted;
    o[7] = picked;
    o[8] = logic;
    o[9] = sat;
}
