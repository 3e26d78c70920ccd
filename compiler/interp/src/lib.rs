//! The reference interpreter.

pub mod pipeline;
