//! How fast time is simulated: warp instructions a second of simple loops on the whole machine.

use std::sync::Arc;
use std::time::Instant;

use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::Kernel;
use nbcc_isa_simt::asm::assemble;
use nbcc_sim_simt::{Device, Launch, RunOptions};

const LOOPS: &[(&str, &str)] = &[
    (
        "far",
        "    far int.add R2, R2, R3\n    far int.xor R4, R2, R3\n    far int3.mad R5, R4, 3, R2\n    \
         far int.shl R6, R5, 2\n",
    ),
    (
        "near",
        "    near int.add R2, R2, R7\n    near int.xor R4, R2, R7\n    near int3.mad R5, R4, 3, R2\n",
    ),
    (
        "memory",
        "    ld.global.b32.weak R2, [D10], 0\n    near float.add.f32.rn R2, R2, R2\n    \
         st.global.b32.weak [D10], 0, R2\n    far int.add R6, R6, 4\n    far int.xor R7, R6, R3\n",
    ),
    ("strided", "    ld.global.b32.weak R2, [D14], 0\n    far int.add R6, R6, 4\n"),
    (
        "shared memory",
        "    near ld.shared.b32.weak R2, [D16], 0\n    near float.add.f32.rn R2, R2, R2\n    \
         st.shared.b32.weak [D16], 0, R2\n",
    ),
];

fn main() {
    let only = std::env::args().nth(1);
    for (name, body) in LOOPS.iter().filter(|(name, _)| only.as_ref().is_none_or(|o| o == name)) {
        let text = format!(
            ".isa mpu 1\n.machine mpu\n.section .text\n    mov R0, 0\n    sreg.tid_x R3\n    \
             sreg.ctaid_x R1\n    int3.mad R1, R1, 128, R3\n    ld64.param.weak D10, [0x0], 0\n    \
             mad_wide.u D14, R1, 64, D10\n    mad_wide.u D10, R1, 4, D10\n    \
             mul_wide.u D16, R3, 4\nhead:\n{body}    \
             int.add R0, R0, 1\n    cmp.lt_u P0, R0, 100\n    if P0 bra head, done\ndone:\n    exit\n"
        );
        let mut program = assemble(&ISA, &text).expect("the example assembles");
        program.kernels = vec![Kernel {
            name: "speed".into(),
            instructions: program.code.text.len() as u32,
            registers: 18,
            shared_bytes: 512,
            param_bytes: 8,
            ..Kernel::default()
        }];
        let mut device = Device::new(ISA.built_in("mpu"), 1 << 24);
        let module = device.load(Arc::new(program)).expect("the example loads");
        let buffer = device.memory().allocate(1 << 23, false).expect("memory");
        let launch = Launch {
            kernel: "speed",
            grid: [512, 1, 1],
            block: [128, 1, 1],
            dynamic_shared: 0,
            params: &buffer.to_le_bytes(),
        };
        let start = Instant::now();
        let options = RunOptions::default();
        let out = &mut Vec::new();
        let timing =
            nbcc_sim_mpu::launch(&mut device, &module, &launch, &options, None, out, &mut |_| ())
                .expect("the example runs");
        let seconds = start.elapsed().as_secs_f64();
        let instructions = timing.counters.instructions();
        println!(
            "{name:<14} {:6.2} million warp instructions a second, {} instructions in {} cycles",
            instructions as f64 / seconds / 1e6,
            instructions,
            timing.measures.cycles
        );
    }
}
