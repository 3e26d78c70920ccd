//! DRAM banks and controllers.
//!
//! A [`Controller`] serves requests on one channel and is driven by events; the
//! [`Device`] below it knows which rows are open and which command may issue when.
//! [`mod@replay`] runs a request trace through a controller.

pub mod audit;
mod command;
mod config;
mod controller;
mod device;
pub mod machine;
pub mod replay;
pub mod standard;
mod stats;
pub mod trace;

pub use command::Command;
pub use config::{
    ConfigError, DataPath, DramConfig, PagePolicy, QueueKind, RefreshPolicy, Scheduler, SlotRelease,
};
pub use controller::{Completion, Controller, Issued, Kind, Request};
pub use device::Device;
pub use machine::{MachineError, Place, parse_machine};
pub use nbcc_sim_engine::Cycle;
pub use replay::{Replay, ReplayError, ReplayOptions, replay, replay_files};
pub use standard::Model;
pub use stats::{CommandCounts, Stats};
pub use trace::{TraceError, TraceProblem, parse_trace};
