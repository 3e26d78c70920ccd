//! Timing apart from any program: cycles that follow from the parameters of the machine by hand.

mod banks;
mod hybrid;
mod identities;
mod pipeline;
mod remote;
mod support;
mod threads;
