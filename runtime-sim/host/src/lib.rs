//! The runtime that a host program sees: it brings data to a machine, starts it and brings results
//! back. It computes nothing. Each kind of program has one: image pipelines ([`run`]), kernels
//! ([`device`]), sequential functions ([`function`]).

pub mod device;
pub mod function;
mod image;
mod images;
mod profile;
pub mod sdpnm;
pub mod timing;
mod transfer;

pub use nbcc_sim_engine::{Progress, Statistics, Trace};
pub use nbcc_sim_ipim::fault::{Fault, FaultKind};
pub use nbcc_sim_ipim::simulation::{RunOptions, SetupError, Simulation};

pub use image::Image;
pub use images::{HostError, RunResult, run};
pub use profile::{Cost, Profile, ProfileFunction, ProfileLine};
