//! The simulated machine of SDPNM: its core and its arrays, functional and timed in one run.
//!
//! The core is in order and does one instruction at a time, each for as many cycles as its latency
//! class has in the machine file. A load takes its cycles whichever bank it reaches, since the paper
//! gives that way no timing (docs/fidelity.md); what the host controller moves meets the banks.

mod arrays;
mod banks;
mod core;
mod fault;
mod host;
mod measures;
mod memory;
mod statistics;

pub use arrays::{ArrayMeasures, Arrays, PackageMeasures, Traffic};
pub use core::{Core, Options};
pub use fault::{Fault, Stopped};
pub use host::Moved;
pub use measures::Measures;
pub use statistics::{DEFINITIONS, collect};
