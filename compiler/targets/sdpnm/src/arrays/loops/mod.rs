//! Loops of the source become loops that arrays can run, and run well: what is done to the IR before a loop is
//! put on an array.

pub(super) mod ahead;
mod beside;
mod borders;
pub(super) mod chain;
mod coalesce;
pub mod collapse;
pub mod counters;
pub mod divisions;
pub mod divisors;
pub mod flatten;
mod interchange;
mod keep;
mod long_divisions;
pub mod merge;
mod nest;
mod stages;
pub mod strips;
mod sums;
mod thresholds;
pub mod unswitch;
