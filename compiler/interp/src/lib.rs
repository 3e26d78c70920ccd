//! The reference interpreter.

pub mod function;
pub mod grid;
pub mod pipeline;
