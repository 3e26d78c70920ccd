//! What the compiler decides for SDPNM. Functions of C become code for the core (`core`, with its
//! passes in `pipeline.rs`) and configurations of arrays for their loops (`arrays`). Data-flow graphs,
//! those of loops and those read from files (`read`), are placed on an array of processing elements
//! (`map`).

pub mod arrays;
pub mod codes;
pub mod core;
pub mod map;
mod narrow;
pub mod pipeline;
pub mod read;
pub mod report;
pub mod state;
mod target;

pub use target::{SDPNM, Sdpnm};
