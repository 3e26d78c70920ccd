//! How fast arrays are simulated: PE-cycles a second, 64 for a cycle of an array of 8 x 8.

use std::time::Instant;

use nbcc_isa::{Code, PhysReg};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{
    Bit, Context, Control, Memory, Opcode, Options, Package, Placed, Source, Width,
};
use nbcc_isa_sdpnm::core::arrays::{CONTROL, CONTROL_BYTES, ITERATIONS, START};
use nbcc_isa_sdpnm::core::memory::DATA;
use nbcc_isa_sdpnm::core::{Area, Class, CoreProgram, Frame, I12, Inst};
use nbcc_sim_sdpnm::{Core, Options as RunOptions};

/// Iterations of the loop, an interval of one cycle each.
const TIMES: u32 = 1 << 18;

/// What the PEs of a package do; those of the first column load, 8 words a cycle.
fn package(name: &str, op: Opcode, used: u16, loads: bool) -> Package {
    let contexts = (0..used).map(|pe| {
        let is_load = loads && pe % 8 == 0;
        let west = if pe % 8 == 0 { Source::Output(0, 0) } else { Source::Output(0, -1) };
        let (op, in1, in2) = match is_load {
            true => (Opcode::Load, Source::Immediate(i32::from(pe / 2)), Source::None),
            false => (op, west, Source::Register { ring: 0, ago: 1 }),
        };
        let context = Context {
            op,
            options: Options::default(),
            in1,
            in2,
            in3: Bit::None,
            memory: match is_load {
                true => Memory { width: Width::W32, offset: 0, stride: 0 },
                false => Memory::default(),
            },
            control: Control { stage: pe % 8, keep: Some(0), ..Control::default() },
        };
        Placed { pe, slot: 0, context, line: None }
    });
    let rings = (0..used).map(|pe| (pe, vec![3])).collect();
    Package { name: name.into(), array: 1, ii: 1, mii: 1, rings, contexts: contexts.collect() }
}

fn program(package: Package) -> CoreProgram {
    let x = |index| PhysReg::new(Class::X, index);
    let mut text = Vec::new();
    // The words are multiples of 4096, or small.
    for (address, word) in [(ITERATIONS, TIMES), (START, 0)] {
        let page = CONTROL + CONTROL_BYTES;
        text.push(Inst::Lui { dst: x(5), upper: (page + ITERATIONS) >> 12 });
        text.push(Inst::Addi { dst: x(5), a: x(5), imm: I12(0x7fc) });
        text.push(Inst::Lui { dst: x(6), upper: word >> 12 });
        text.push(Inst::Sw { src: x(6), offset: I12(address as i32 - 0x7fc), base: x(5) });
    }
    CoreProgram {
        machine: Machine::built_in("sdpnm"),
        code: Code { text, ..Code::default() },
        data: Vec::new(),
        signature: None,
        frame: Frame { frame: Area { address: DATA, bytes: 64 }, ..Frame::default() },
        traps: Vec::new(),
        packages: vec![package],
        homes: Vec::new(),
    }
}

fn main() {
    for package in [
        package("64 sums", Opcode::Add, 64, false),
        package("64 complex products", Opcode::Cmac, 64, false),
        package("56 sums, 8 loads", Opcode::Add, 64, true),
        package("16 sums", Opcode::Add, 16, false),
    ] {
        let program = program(package);
        program.to_elf().expect("the example is a program");
        let mut core = Core::new(&program).expect("the example has memory");
        let begun = Instant::now();
        let progress = &mut |_| {};
        let options = &mut RunOptions { max_cycles: 1 << 40, trace_events: None, progress };
        core.run(options).expect("the example runs");
        let seconds = begun.elapsed().as_secs_f64();
        let cycles = core.arrays.measures[1].busy;
        println!(
            "{:20} {:6.1} million PE-cycles a second, {cycles} cycles",
            program.packages[0].name,
            64.0 * cycles as f64 / seconds / 1e6
        );
    }
}
