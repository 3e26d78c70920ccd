//! From kernels in the shared IR to a SIMB program.

pub mod code;
pub mod emit;
pub mod provenance;
pub mod regalloc;
pub mod reorder;
pub mod scalars;
pub mod select;
pub mod split;
pub mod times;
