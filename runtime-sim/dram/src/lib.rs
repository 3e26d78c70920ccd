//! DRAM banks and controllers.
//!
//! A [`Controller`] serves requests on one channel and is driven by events; the
//! [`Device`] below it knows which rows are open and which command may issue when.
//! [`mod@replay`] runs a request trace through a controller.
//!
//! ```
//! use nbcc_sim_dram::{Controller, Kind, Request, machine, parse_machine};
//!
//! let config = parse_machine(machine::REFERENCE, &["queue=unified", "read_queue_size=16"])?;
//! let mut controller = Controller::new(&config)?;
//! let request = Request { id: 7, kind: Kind::Read, bank: 3, row: 40, column: 0 };
//! assert!(controller.try_enqueue(0, request));
//! let mut done = Vec::new();
//! while let Some(next) = controller.next_event() {
//!     controller.advance(next, &mut done);
//! }
//! // ACT at 1, RD tRCD later, the data tCL + tBL after that.
//! assert_eq!((done[0].id, done[0].finish), (7, 1 + 14 + 14 + 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod audit;
mod command;
mod config;
mod controller;
mod description;
mod device;
pub mod machine;
mod port;
pub mod replay;
pub mod standard;
mod stats;
pub mod trace;

pub use command::Command;
pub use config::{
    ConfigError, DataPath, DramConfig, PagePolicy, QueueKind, RefreshPolicy, Scheduler, SlotRelease,
};
pub use controller::{Completion, Controller, Issued, Kind, Request};
pub use description::Banks;
pub use device::Device;
pub use machine::{MachineError, Place, left_out, parse_machine};
pub use nbcc_sim_engine::Cycle;
pub use port::Port;
pub use replay::{Replay, ReplayError, ReplayOptions, replay, replay_files};
pub use standard::Model;
pub use stats::{CommandCounts, Stats};
pub use trace::{TraceError, TraceProblem, parse_trace};
