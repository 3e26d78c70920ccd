//! The functional machine: what the instructions of `isa/simt` do, whichever SIMT machine has them.
//! The effects of every instruction are those of PTX's manual, and cycles follow a simple rule (a core issues one warp instruction
//! a cycle, see docs/fidelity.md).
//!
//! [`device`] is what a host sees: memory, modules, launches. A launch gives blocks to cores
//! (`grid`); a block runs its warps in turn (`block`); a warp executes instructions one by
//! one for the threads of its current path (`execute`): those that compute (`compute`,
//! `float`), that access memory (`transfer`), and those among lanes (`collective`).
//! Everything is done in one order, so that the same launch always ends the same way; on several threads
//! blocks run beside those before them where that cannot be told from it (`parallel`, `ahead`).

pub mod access;
pub mod ahead;
mod alu;
pub mod block;
mod collective;
mod compute;
pub mod context;
pub mod device;
mod execute;
pub mod fault;
mod float;
pub mod grid;
pub mod launch;
pub mod parallel;
mod pending;
mod printf;
pub mod statistics;
mod transfer;
pub mod view;
pub mod warp;

pub use device::{Device, LaunchError, LoadError, Module, RunOptions};
pub use fault::{Fault, FaultKind};
pub use launch::Launch;
pub use statistics::{COUNTED, Counters, DEFINITIONS};
pub use transfer::polls;
