//! TOM in time: a GPU with 3D-stacked memories that compute (TOM paper). What instructions do is
//! `runtime-sim/simt`'s; this says when, and what it costs. What the paper leaves open is in
//! docs/fidelity.md, the model in docs/machine-tom.md.
//!
//! An instruction is executed at the cycle at which it issues ([`issue`]). A multiprocessor ([`sm`]) goes
//! from event to event; its load-store unit ([`access`]) sends requests for lines, which [`memory`]
//! answers: interconnect, shared cache, links, and [`vault`]s of stacks, each in a [`clock`] domain of its
//! own. [`system`] runs all of them in short windows, within which none can notice another. [`launch()`]
//! is what a host calls.
//!
//! A warp that comes to a candidate is decided on by the [`controller`] with a [`policy`] and what the
//! [`monitor`] says of links; its block becomes a [`task`], which runs as one of the [`visitors`] of a
//! stack. [`map`] says which line lies in which stack, and learns it. [`report`] tells
//! why a launch does not end. [`analyzer`] and [`mod@trace`] say where pages should go.

pub mod access;
mod ahead;
pub mod analyzer;
pub mod clock;
pub mod coherence;
pub mod controller;
pub mod directory;
mod faster;
pub mod issue;
pub mod launch;
pub mod map;
pub mod measures;
pub mod memory;
pub mod message;
pub mod monitor;
pub mod plan;
pub mod policy;
pub mod queue;
pub mod report;
pub mod residents;
pub mod sm;
pub mod stall;
pub mod statistics;
pub mod system;
pub mod task;
pub mod timeline;
pub mod trace;
pub mod vault;
pub mod visitors;

pub use launch::{Timing, launch};
pub use map::Session;
pub use measures::Measures;
pub use statistics::{DEFINITIONS, collect};
