//! How fast time is simulated: warp instructions a second of simple loops on the whole machine.

use std::sync::Arc;
use std::time::Instant;

use nbcc_isa_simt::Kernel;
use nbcc_isa_simt::asm::assemble;
use nbcc_isa_tom::ISA;
use nbcc_sim_simt::{Device, Launch, RunOptions};

const LOOPS: &[(&str, &str)] = &[
    (
        "arithmetic",
        "    int.add R2, R2, R3\n    int.xor R4, R2, R3\n    int3.mad R5, R4, 3, R2\n    \
         int.shl R6, R5, 2\n    float.add.f32.rn R7, R5, R6\n    float.mul.f32.rn R8, R7, R7\n",
    ),
    (
        "stream",
        "    ld.global.b32.weak R2, [D10], 0\n    float.add.f32.rn R2, R2, R2\n    \
         st.global.b32.weak [D10], 0, R2\n    int.add R6, R6, 4\n    int64.add D10, D10, 262144\n",
    ),
    ("cached", "    ld.global.b32.weak R2, [D10], 0\n    float.add.f32.rn R2, R2, R2\n"),
    ("strided", "    ld.global.b32.weak R2, [D14], 0\n    int.add R6, R6, 4\n"),
    (
        "shared memory",
        "    ld.shared.b32.weak R2, [D16], 0\n    float.add.f32.rn R2, R2, R2\n    \
         st.shared.b32.weak [D16], 0, R2\n",
    ),
];

fn main() {
    let only = std::env::args().nth(1);
    for (name, body) in LOOPS.iter().filter(|(name, _)| only.as_ref().is_none_or(|o| o == name)) {
        let text = format!(
            ".isa tom 1\n.machine tom-baseline\n.section .text\n    mov R0, 0\n    sreg.tid_x R3\n    \
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
        let mut device = Device::new(ISA.built_in("tom-baseline"), 1 << 27);
        let module = device.load(Arc::new(program)).expect("the example loads");
        let buffer = device.memory().allocate(1 << 26, false).expect("memory");
        let launch = Launch {
            kernel: "speed",
            grid: [512, 1, 1],
            block: [128, 1, 1],
            dynamic_shared: 0,
            params: &buffer.to_le_bytes(),
        };
        let start = Instant::now();
        let options = RunOptions::default();
        let (session, out) = (&mut nbcc_sim_tom::Session::default(), &mut Vec::new());
        let timing = nbcc_sim_tom::launch(
            &mut device,
            &module,
            &launch,
            &options,
            session,
            out,
            &mut |_| (),
        )
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
