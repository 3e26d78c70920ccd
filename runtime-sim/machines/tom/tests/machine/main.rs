//! Timing apart from any program: cycles that follow from the parameters of the machine by hand.

mod identities;
mod memory;
mod offload;
mod pipeline;
mod support;
mod threads;
