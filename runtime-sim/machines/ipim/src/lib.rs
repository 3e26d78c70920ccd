//! The iPIM machine: what its instructions do, and when.
//!
//! Effects and timing are apart. [`vault`] executes instructions in program order;
//! [`functional`] runs whole programs that way and nothing else. [`timed`] decides
//! at which cycle each of them issues, which units it occupies and when it retires;
//! [`system`] lets all vaults run and carries their messages. A host comes in through
//! [`simulation`]. docs/machine-ipim.md describes the model.

pub mod alu;
pub mod code;
pub mod decode;
pub mod engines;
pub mod fault;
pub mod functional;
pub mod group;
pub mod groups;
mod jumps;
pub mod lookahead;
pub mod memory;
pub mod plan;
pub mod scoreboard;
pub mod simulation;
pub mod stall;
pub mod statistics;
pub mod system;
pub mod timed;
pub mod timeline;
pub mod vault;
