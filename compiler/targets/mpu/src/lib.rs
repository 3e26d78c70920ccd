//! The MPU backend: grids of threads on cores with near-bank units (paper 000). It takes functions
//! of the shared IR, inlines calls, gives objects their places, and goes from there through
//! instruction selection and register allocation to a program.

pub mod backend;
pub mod codes;
pub mod passes;
pub mod pipeline;
mod state;
mod target;

pub use state::{Compilation, KernelState};
pub use target::{MPU, Mpu};
