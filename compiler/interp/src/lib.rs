//! The reference interpreter.

pub mod function;
pub mod pipeline;
