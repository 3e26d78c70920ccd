//! SDPNM: its arrays of processing elements and what a mapping on one must be; its core, with the
//! instructions and programs of it. The source is paper
//! 003 (a software-defined process-near-memory architecture), sections 2 and 3.4; where it is silent,
//! docs/fidelity.md says what was chosen.

pub mod array;
pub mod check;
pub mod config;
pub mod core;
pub mod graph;
pub mod machine;

pub use array::{Array, Links};
pub use check::{Fault, check};
pub use graph::{Edge, Graph, Holder, Mapping, Node, Route, Spot};
pub use machine::Machine;
