//! From kernels in the shared IR to a SIMB program.

pub mod addresses;
pub mod emit;
pub mod legalize;
pub mod merge;
pub mod place;
pub mod provenance;
pub mod regalloc;
pub mod reorder;
mod rewrite;
pub mod select;
