//! What is seen of passes: their names and times, and the forms before and after.

use std::time::Duration;

use crate::request::OptLevel;

/// What `--print-passes` shows of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Its name.
    pub name: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    /// The lowest level it runs at.
    pub level: OptLevel,
    /// Whether a program is still right without it.
    pub optional: bool,
}

/// The text of one function at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The function's name.
    pub function: String,
    /// Its text.
    pub text: String,
}

/// What happened in one pass.
#[derive(Clone, Debug)]
pub struct PassRecord {
    /// The pass.
    pub pass: PassInfo,
    /// The state before; empty unless the observer wants dumps.
    pub before: Vec<Dump>,
    /// The state after; empty unless the observer wants dumps.
    pub after: Vec<Dump>,
    /// Time spent in the pass alone.
    pub elapsed: Duration,
}

/// Watches passes run.
pub trait Observer {
    /// Whether records should hold dumps.
    fn wants_dumps(&self) -> bool {
        false
    }
    /// Called after each pass of the attempt that is kept, in order.
    fn pass(&mut self, record: PassRecord);
    /// Called once with the time that passes took whose results were not kept.
    fn not_kept(&mut self, _elapsed: Duration) {}
}

/// Watches nothing.
#[derive(Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn pass(&mut self, _: PassRecord) {}
}
