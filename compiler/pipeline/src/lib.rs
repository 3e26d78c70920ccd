//! How a program gets from source to binary: pass descriptions and their runner, and the traits
//! that a frontend and a target implement.
//!
//! A target states its pipeline once, as a `const` list of [`PassDesc`] over its own compilation
//! state. Everything that shows passes (dumps, diffs, timing, `--print-passes`, `--disable-pass`,
//! `--verify-each`) reads that list and watches [`run_passes`], or [`run_attempts`] where passes may
//! ask for another attempt under another configuration.

mod artifact;
mod context;
mod observer;
mod pass;
mod request;
mod run;
mod signature;
mod target;

pub use artifact::Artifact;
pub use context::Context;
pub use observer::{Dump, NoObserver, Observer, PassInfo, PassRecord};
pub use pass::{Attempt, Fact, PassDesc, Retry, Run, State, Stop, attempt, before, optional, pass};
pub use request::{Emit, LineCounts, OptLevel, PassOptions, Request};
pub use run::{run_attempts, run_passes, run_rest};
pub use signature::signature;
pub use target::{
    Choice, Frontend, Grids, Includes, MachineInfo, NotIncluded, ParseOptions, Program,
    ProgramKind, ReportInfo, Target, names,
};
