//! How long the simulator takes for an instruction of each kind, over all engines of
//! a vault, with and without timing: `cargo bench -p nbcc-sim-ipim [KIND]`. What criterion calls elements
//! are instructions of single engines.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nbcc_isa_ipim::Program;
use nbcc_isa_ipim::asm::assemble;
use nbcc_sim_ipim::memory::SharedImage;
use nbcc_sim_ipim::simulation::{RunOptions, Simulation};

/// Rounds of 16 instructions.
const REPEAT: usize = 400;

fn body(name: &str) -> String {
    let all = "simb=0xffffffff";
    let lines: Vec<String> = (0..16)
        .map(|i| match name {
            "comp.add.f32" => {
                format!("comp.add.f32.vv D{}, D{}, D2, vec=0xf, {all}", 8 + i, 24 + i)
            }
            "comp.mac.f32" => {
                format!("comp.mac.f32.sv D{}, D1, D{}, vec=0xf, {all}", 8 + i, 24 + i)
            }
            "comp.shl.i32" => {
                format!("comp.shl.i32.vv D{}, D{}, D2, vec=0xf, {all}", 8 + i, 24 + i)
            }
            "comp partial" => {
                format!("comp.add.i32.vv D{}, D{}, D2, vec=0x7, simb=0xfffffff", 8 + i, 24 + i)
            }
            "calc_arf" => format!("calc_arf.add A{}, A{}, A6, {all}", 8 + i, 24 + i),
            "dependent add" => format!("comp.add.f32.vv D8, D8, D2, vec=0xf, {all}"),
            "rd_pgsm" => format!("rd_pgsm [{}], D{}, {all}", 16 * i, 8 + i),
            "ld_rf" => format!("ld_rf [{}], D{}, {all}", 16 * i, 8 + i),
            "st_rf" => format!("st_rf [{}], D{}, {all}", 16 * i, 8 + i),
            "brighten" => match i % 4 {
                0 => format!("ld_rf [{}], D{}, {all}", 64 * i, 8 + i),
                1 => format!("comp.mul.f32.sv D{}, D1, D{}, vec=0xf, {all}", 8 + i, 7 + i),
                2 => format!("calc_arf.add A{}, A{}, A6, {all}", 8 + i, 24 + i),
                _ => format!("st_rf [{}], D{}, {all}", 4096 + 64 * i, 6 + i),
            },
            _ => unreachable!("an unknown kind"),
        })
        .collect();
    lines.join("\n") + "\n"
}

fn program(name: &str, machine: &str) -> Program {
    let text = format!(
        ".isa simb 1\n.machine {machine}\n.section .text\nseti_crf C4, loop\nseti_crf C5, {REPEAT}\n\
         seti_crf C6, 1\nloop:\n{}calc_crf.sub C5, C5, C6\ncjump C5, C4\n",
        body(name)
    );
    assemble(&text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn instructions(criterion: &mut Criterion) {
    let kinds = [
        "comp.add.f32",
        "comp.mac.f32",
        "comp.shl.i32",
        "comp partial",
        "calc_arf",
        "dependent add",
        "rd_pgsm",
        "ld_rf",
        "st_rf",
        "brighten",
    ];
    for machine in ["ipim-vault", "ipim-cube"] {
        for timing in [false, true] {
            let what = if timing { "timed" } else { "fast" };
            let mut group = criterion.benchmark_group(format!("{machine} {what}"));
            group.sample_size(10);
            for name in kinds {
                let program = program(name, machine);
                let engines = program.machine.vaults() * program.machine.engines();
                let count = 16 * REPEAT as u64 * u64::from(engines);
                group.throughput(Throughput::Elements(count));
                group.bench_function(name, |bencher| {
                    let mut simulation =
                        Simulation::new(&program, SharedImage::default(), 1 << 30).expect("fits");
                    let mut options = RunOptions { timing, ..RunOptions::default() };
                    bencher.iter(|| {
                        if timing {
                            simulation.run_timed(&mut options).expect("no fault").cycles
                        } else {
                            simulation.run_functional(&mut options).expect("no fault")
                        }
                    });
                });
            }
        }
    }
}

criterion_group!(benches, instructions);
criterion_main!(benches);
