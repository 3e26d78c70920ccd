//! How fast the machine is simulated: warp instructions a second of simple loops.

use std::sync::Arc;
use std::time::Instant;

use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::Kernel;
use nbcc_isa_simt::asm::assemble;
use nbcc_sim_simt::{Device, Launch, RunOptions};

const LOOPS: &[(&str, &str)] = &[
    (
        "integer",
        "    int.add R2, R2, R3\n    int.xor R4, R2, R3\n    int3.mad R5, R4, 3, R2\n    int.shl R6, R5, 2\n",
    ),
    (
        "binary32",
        "    float.add.f32.rn R2, R2, R3\n    float.mul.f32.rn R4, R2, R3\n    fma.f32.rn R5, R4, R2, R3\n",
    ),
    (
        "global memory",
        "    ld.global.b32.weak R2, [D10], 0\n    int.add R2, R2, 1\n    st.global.b32.weak [D10], 0, R2\n",
    ),
    ("64 bits", "    int64.add D12, D12, D10\n    mad_wide.u D14, R3, 4, D12\n"),
];

fn main() {
    for (name, body) in LOOPS {
        let text = format!(
            ".isa mpu 1\n.machine mpu\n.section .text\n    mov R0, 0\n    sreg.tid_x R3\n    \
             ld64.param.weak D10, [0x0], 0\n    mad_wide.u D10, R3, 4, D10\nhead:\n{body}    \
             int.add R0, R0, 1\n    cmp.lt_u P0, R0, 200000\n    if P0 bra head, done\ndone:\n    exit\n"
        );
        let mut program = assemble(&ISA, &text).expect("the example assembles");
        program.kernels = vec![Kernel {
            name: "speed".into(),
            instructions: program.code.text.len() as u32,
            registers: 16,
            param_bytes: 8,
            ..Kernel::default()
        }];
        let mut device = Device::new(ISA.built_in("mpu"), 1 << 20);
        let module = device.load(Arc::new(program)).expect("the example loads");
        let buffer = device.memory().allocate(4096, false).expect("memory");
        let launch = Launch {
            kernel: "speed",
            grid: [4, 1, 1],
            block: [128, 1, 1],
            dynamic_shared: 0,
            params: &buffer.to_le_bytes(),
        };
        let start = Instant::now();
        let options = RunOptions::default();
        let counters =
            device.launch(&module, &launch, &options, &mut Vec::new()).expect("the example runs");
        let seconds = start.elapsed().as_secs_f64();
        let rate = counters.instructions() as f64 / seconds / 1e6;
        println!("{name:<14} {rate:8.1} million warp instructions a second");
    }
}
