//! TOM in time: a GPU with 3D-stacked memories that compute (paper 002). What instructions do is
//! `runtime-sim/simt`'s; this says when, and what it costs. What the paper leaves open is in
//! docs/fidelity.md, the model in docs/machine-tom.md.
//!
//! An instruction is executed at the cycle at which it issues ([`issue`]). A multiprocessor ([`sm`]) goes
//! from event to event; its load-store unit ([`access`]) sends requests for lines, which [`memory`]
//! answers: interconnect, shared cache, links, and [`vault`]s of stacks, each in a [`clock`] domain of its
//! own. [`system`] runs all of them in short windows, within which none can notice another. [`launch()`]
//! is what a host calls. [`analyzer`] and [`mod@trace`] say where pages should go.

pub mod access;
pub mod analyzer;
pub mod clock;
pub mod issue;
pub mod launch;
pub mod measures;
pub mod memory;
pub mod message;
pub mod plan;
pub mod residents;
pub mod sm;
pub mod stall;
pub mod statistics;
pub mod system;
pub mod timeline;
pub mod trace;
pub mod vault;

pub use launch::{Timing, launch};
pub use measures::Measures;
pub use statistics::{DEFINITIONS, collect};
