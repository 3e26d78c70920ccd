//! The reference interpreter of IR functions: one thread, one engine or a sequential program,
//! instruction by instruction. It defines what a function means.
//!
//! [`call`] runs a function as hosts call it; [`eval`] runs a function that touches no memory; [`run`] runs any, with memory objects and raw
//! memory given as arrays and intrinsics answered by a callback; [`Execution`] runs step by step,
//! so that several threads can be run in turn and values can be watched.

mod entry;
mod memory;
mod promises;
mod run;
mod trap;

pub use entry::{Called, Given, call};
pub use memory::{Array, Memory};
pub use run::{Answer, Execution, IntrinsicContext, Intrinsics, Options, Program, Step, eval, run};
pub use trap::{Trap, TrapKind};
