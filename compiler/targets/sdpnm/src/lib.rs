//! What the compiler decides for SDPNM. Functions of C become code for the core (`core`, with its
//! passes in `pipeline.rs`); data-flow graphs that are read from files (`read`) are placed on an array
//! of processing elements (`map`).

pub mod codes;
pub mod core;
pub mod map;
pub mod pipeline;
pub mod read;
pub mod report;
pub mod state;
mod target;

pub use target::{SDPNM, Sdpnm};
