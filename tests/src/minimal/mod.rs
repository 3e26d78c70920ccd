//! The smallest frontend and the smallest target that are whole: docs/adding-a-frontend.md and
//! docs/adding-a-target.md go through these files, and `tests/minimal.rs` runs them by the command.
//! Nothing elsewhere knows of them.
//!
//! A `.tally` file is a function that computes an expression for each element of arrays of `i32`
//! and gives the sum of all; the machine, Tally, has eight registers and a memory.

mod isa;
mod language;
mod simulator;
mod target;

use nbcc::kinds::functions::FunctionRunner;
use nbcc::registry::{Language, Registry, RunReport, Runner, TargetEntry};

/// What `nbcc-minimal` can read and compile for.
pub static REGISTRY: Registry = Registry {
    suites: &[],
    languages: &[Language { frontend: &language::Tally, target: isa::NAME, headers: &[] }],
    translators: &[],
    targets: &[TargetEntry {
        target: &target::Tally,
        machine: |text, overrides| {
            Ok(nbcc_isa::machine::list(&isa::Machine::from_toml(text, overrides)?, text))
        },
        isa: isa::ISA,
        assembly: isa::NAME,
        disassemble: isa::disassemble,
        assemble: isa::assemble,
        runner: Runner::Function(FunctionRunner {
            describe: simulator::describe,
            call: simulator::call,
        }),
        report: RunReport {
            core: "core",
            instructions: "instructions",
            note: None,
            has_trace: false,
            statistics: simulator::DEFINITIONS,
        },
    }],
};
