//! The iPIM backend: from image pipelines to SIMB programs.
//!
//! The way of a program: `plan` decides which engine keeps and computes which tile and what is
//! brought to it beforehand; `lower` writes each kernel of the plan in the shared IR; `passes` are
//! those on kernels in IR; `backend` turns kernels into SIMB instructions. `pipeline` lists the
//! passes in order; `configuration` is what differs from attempt to attempt where a program does
//! not fit the machine; `memory` says what lies in banks and scratchpads beside images.

pub mod backend;
pub mod codes;
mod configuration;
mod contest;
pub mod estimate;
mod fit;
mod front;
pub mod intrinsics;
pub mod kernel;
pub mod lower;
pub mod memory;
mod outputs;
pub mod parameters;
pub mod passes;
mod pipeline;
pub mod plan;
mod state;
mod target;
mod trials;

pub use target::IPIM;
