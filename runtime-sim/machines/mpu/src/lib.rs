//! MPU in time: a SIMT machine whose pipeline is divided between the base die (far) and the DRAM die
//! (near). What instructions do is `runtime-sim/simt`'s; this says when, and what it costs.
//! Sections IV and VI of the MPU paper; what it leaves open is in docs/fidelity.md, the model in
//! docs/machine-mpu.md.
//!
//! An instruction is executed at the cycle at which it issues, and what it takes of the machine from
//! there on is decided then ([`issue`]): calendars say when buses and units are free. Only what banks
//! and other cores answer is waited for ([`access`], [`answers`]). [`core`] runs a core from event to
//! event, [`system`] all of them in short windows, within which no core can notice another, [`parts`]
//! of them on threads of their own.
//! [`launch()`] is what a host calls.

pub mod access;
pub mod answers;
pub mod core;
pub mod issue;
pub mod launch;
pub mod measures;
pub mod parts;
pub mod plan;
pub mod remote_cache;
pub mod residents;
pub mod stall;
pub mod statistics;
pub mod system;
pub mod tracks;

pub use launch::{Timing, launch};
pub use measures::Measures;
pub use statistics::{DEFINITIONS, collect};
