//! Differential fuzzing: random pipelines as source text, run by the interpreter as they are
//! written and by the compiler and the simulated machine as they are scheduled; a failure is
//! shrunk to a small source. The method is that of Csmith and its kin (Yang et al., PLDI 2011):
//! programs of defined behaviour only, so that any difference is a fault.

mod expressions;
pub mod generate;
mod loops;
pub mod model;
pub mod random;
pub mod run;
pub mod shrink;
mod updates;
