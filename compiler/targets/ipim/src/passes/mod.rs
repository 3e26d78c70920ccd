//! Passes on kernels in the shared IR.

pub mod addresses;
mod frequency;
pub mod legalize;
pub mod merge;
pub mod place;
mod rewrite;
pub mod share;
