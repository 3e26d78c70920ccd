//! Which special registers hold what is no thread's own: the time, and what differs between processors.

use crate::operands::{Special, SpecialWide};
use crate::ops::Op;

impl<R> Op<R> {
    /// Whether it reads a clock: each time it may find another value.
    pub fn reads_clock(&self) -> bool {
        match self {
            Op::Sreg { special, .. } => matches!(
                special,
                Special::Clock | Special::ClockHi | Special::GlobaltimerLo | Special::GlobaltimerHi
            ),
            Op::SregWide { special, .. } => {
                matches!(special, SpecialWide::Clock | SpecialWide::Globaltimer)
            }
            _ => false,
        }
    }

    /// Whether it reads what differs between processors: a clock, the number of the processor or of a
    /// warp on it, or how many there are.
    pub fn reads_processor_state(&self) -> bool {
        match self {
            Op::Sreg {
                special: Special::Smid | Special::Nsmid | Special::Warpid | Special::Nwarpid,
                ..
            } => true,
            op => op.reads_clock(),
        }
    }
}
