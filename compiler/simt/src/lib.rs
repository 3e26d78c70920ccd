//! What the backends of SIMT targets share: grids of threads, whatever the machine. It takes
//! functions of the shared IR, inlines calls, gives objects their places, and goes from there
//! through instruction selection and register allocation to a program of `isa/simt`.
//!
//! A target is a [`Simt`]: its instruction set, its machines and its list of passes, made of
//! [`passes`] and its own, over a [`Compilation`] to which it may add what it decides.

pub mod backend;
pub mod codes;
pub mod passes;
mod state;
mod target;

pub use state::{Compilation, KernelState};
pub use target::{Report, Simt};
