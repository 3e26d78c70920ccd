//! Runs an image pipeline as it is written, ignoring every schedule: what the pipeline means.
//!
//! Funcs are computed one after another, each whole, over the regions that bounds inference
//! gives. Nothing is inlined and nothing is clamped but inputs that were never declared, so an
//! access outside its region shows a fault of bounds inference and traps. Rows along the first
//! pure dimension are evaluated together; each element still sees every operation once, rounded
//! on its own, and reduction domains are visited in their order.

mod row;
mod run;
mod tape;

pub use run::{MAX_LIVE_ELEMENTS, Trap, run, run_within};
