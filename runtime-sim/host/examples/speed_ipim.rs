//! How fast image pipelines are simulated: `cargo run --release -p nbcc-host --example speed_ipim
//! FILE.nbx...` runs each binary of `nbcc compile` on images of zeros, without timing and with it, on
//! one thread and on two, and prints the time of the whole run (inputs written to banks and outputs
//! read included) and engine-instructions a second. `--only KIND:THREADS`, as in `--only timed:1`, leaves
//! the other runs out, so that the time of the process is that of one. Cycles must not depend on
//! threads.

use std::collections::BTreeMap;
use std::time::Instant;

use nbcc_host::{Image, RunOptions};
use nbcc_isa_ipim::Program;
use nbcc_isa_ipim::layout::Role;

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let only = files.first().is_some_and(|word| word == "--only").then(|| {
        files.remove(0);
        files.remove(0)
    });
    for file in files {
        let bytes = std::fs::read(&file).expect("a file that can be read");
        let program = Program::from_elf(&bytes).expect("a binary of nbcc for iPIM");
        let images = |role| -> BTreeMap<String, Image> {
            let buffers = program.buffers.iter().filter(|buffer| buffer.role == role);
            buffers
                .map(|buffer| (buffer.name.clone(), Image::zeroed(buffer.element, buffer.image())))
                .collect()
        };
        let (inputs, params) = (images(Role::Input), images(Role::Param));
        let engines = f64::from(program.machine.engines());
        for (timing, threads) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
            let kind = if timing { "timed" } else { "fast" };
            if only.as_ref().is_some_and(|only| *only != format!("{kind}:{threads}")) {
                continue;
            }
            let mut options = RunOptions { timing, threads, ..RunOptions::default() };
            let start = Instant::now();
            let run = nbcc_host::run(&program, &inputs, &params, &mut options).expect("no fault");
            let seconds = start.elapsed().as_secs_f64();
            let rate = run.instructions as f64 * engines / seconds / 1e9;
            println!(
                "{file} {kind:5} threads {threads}: {seconds:6.2} s, {rate:.3} G engine-instructions/s, {} cycles",
                run.cycles
            );
        }
    }
}
