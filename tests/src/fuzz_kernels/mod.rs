//! Differential fuzzing of kernels: random PTX with divergent control flow, loops, shared memory,
//! barriers, warp operations and atomics that commute, run by the interpreter and by the compiler
//! and the simulated machine; a failure is shrunk to a small kernel. Kernels are of defined
//! behaviour only: every register is set, addresses are masked, barriers stand where all threads
//! come by, and atomic operations on one address commute.

mod forms;
pub mod generate;
pub mod model;
pub mod run;
pub mod shrink;
