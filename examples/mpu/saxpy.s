# y = a * x + y: saxpy(u32 n, f32 a, f32 *x, f32 *y)
.isa mpu 1
.machine mpu

.section .text
.type saxpy, @function
.size saxpy, 272
saxpy:
    sreg.ctaid_x R0
    sreg.ntid_x R1
    sreg.tid_x R2
    int3.mad R0, R0, R1, R2                 # the thread in the grid
    ld.param.b32.weak R1, [0x0], 0          # n
    cmp.ge_u P0, R0, R1
    if P0 bra done, done
    ld.param.b32.weak R1, [0x0], 4          # a
    ld64.param.weak D4, [0x0], 8            # x
    ld64.param.weak D6, [0x0], 16           # y
    mad_wide.u D4, R0, 4, D4
    mad_wide.u D6, R0, 4, D6
    near ld.global.b32.weak R2, [D4], 0
    near ld.global.b32.weak R3, [D6], 0
    near fma.f32.rn R3, R1, R2, R3
    near st.global.b32.weak [D6], 0, R3
done:
    exit

.section .nbcc.kernels
    .ascii "[{\"name\": \"saxpy\", \"entry\": 0, \"instructions\": 17, \"registers\": 8,\n"
    .ascii "  \"shared_bytes\": 0, \"local_bytes\": 0, \"param_bytes\": 24, \"params\": [\n"
    .ascii "    {\"name\": \"n\", \"offset\": 0, \"size\": 4, \"align\": 4, \"type\": \"u32\"},\n"
    .ascii "    {\"name\": \"a\", \"offset\": 4, \"size\": 4, \"align\": 4, \"type\": \"f32\"},\n"
    .ascii "    {\"name\": \"x\", \"offset\": 8, \"size\": 8, \"align\": 8, \"type\": \"u64\"},\n"
    .ascii "    {\"name\": \"y\", \"offset\": 16, \"size\": 8, \"align\": 8, \"type\": \"u64\"}]}]\n"
