//! Passes over kernels in IR that belong to this target.

pub mod ifconvert;
pub mod inline;
pub mod objects;
