//! Small machines, programs from text, and runs of both kinds.

use nbcc_isa::Override;
use nbcc_isa_ipim::asm::assemble;
use nbcc_isa_ipim::{Machine, Program};
use nbcc_sim_ipim::fault::Fault;
use nbcc_sim_ipim::memory::SharedImage;
use nbcc_sim_ipim::simulation::{RunOptions, Simulation, Timing};

/// A built-in machine with keys changed.
pub fn machine(name: &str, changes: &[(&str, &str)]) -> Machine {
    let overrides: Vec<Override> = changes
        .iter()
        .map(|(key, value)| Override { key: (*key).into(), value: (*value).into() })
        .collect();
    let text = Machine::built_in_text(name).unwrap();
    Machine::from_toml(text, &overrides).unwrap_or_else(|error| panic!("{error:?}"))
}

/// A vault of two groups of two engines that is never refreshed.
pub fn small_vault() -> Machine {
    let changes = [("hierarchy.pgs", "2"), ("hierarchy.pes", "2"), ("dram.refresh", "false")];
    machine("ipim-vault", &changes)
}

/// `cubes` cubes of four such vaults.
pub fn small_cubes(cubes: u32) -> Machine {
    let cubes = cubes.to_string();
    let changes = [
        ("hierarchy.cubes", cubes.as_str()),
        ("hierarchy.cube_columns", cubes.as_str()),
        ("hierarchy.vaults", "4"),
        ("hierarchy.vault_columns", "2"),
        ("hierarchy.pgs", "2"),
        ("hierarchy.pes", "2"),
        ("dram.refresh", "false"),
    ];
    machine("ipim", &changes)
}

/// The program of an assembly text, for a machine.
pub fn program(machine: &Machine, text: &str) -> Program {
    let text = format!(".isa simb 1\n.machine ipim\n.section .text\n{text}\n");
    let mut program = assemble(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    program.machine = machine.clone();
    program
}

/// What every bank holds at the start: a word an element, from address 0.
pub fn image(words: &[u32]) -> SharedImage {
    let mut shared = SharedImage::default();
    for (index, word) in words.iter().enumerate() {
        shared.write_word(index as u32 * 4, *word);
    }
    shared
}

pub fn simulation(program: &Program, words: &[u32]) -> Simulation {
    Simulation::new(program, image(words), 1 << 30).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a text without timing.
pub fn run(machine: &Machine, text: &str, words: &[u32]) -> Simulation {
    let mut simulation = simulation(&program(machine, text), words);
    let result = simulation.run_functional(&mut RunOptions::default());
    result.unwrap_or_else(|fault| panic!("{fault}"));
    simulation
}

/// Runs a program with timing.
pub fn try_time(program: &Program, options: &mut RunOptions<'_>) -> Result<Timing, Fault> {
    simulation(program, &[]).run_timed(options)
}

/// The cycles of a text.
pub fn cycles(machine: &Machine, text: &str) -> u64 {
    let result = try_time(&program(machine, text), &mut RunOptions::default());
    result.unwrap_or_else(|fault| panic!("{fault}")).cycles
}
