//! How a program gets from source to binary: pass descriptions and their runner, and the traits
//! that a frontend and a target implement.
//!
//! A target states its pipeline once, as a `const` list of [`PassDesc`] over its own compilation
//! state. Everything that shows passes (dumps, diffs, timing, `--print-passes`, `--disable-pass`,
//! `--verify-each`) reads that list and watches [`run_passes`].

mod pass;
mod request;
mod signature;
mod target;

pub use pass::{
    Dump, Fact, NoObserver, Observer, PassDesc, PassInfo, PassRecord, Run, State, before, optional,
    pass, run_passes, run_passes_from,
};
pub use request::{Context, Emit, OptLevel, PassOptions, Request};
pub use signature::signature;
pub use target::{
    Artifact, Choice, Frontend, MachineInfo, ParseOptions, Program, ProgramKind, Target,
};
