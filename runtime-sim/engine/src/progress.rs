//! What a simulation says of itself while it runs.

use crate::Cycle;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated cycles; 0 in a run without timing.
    pub cycles: Cycle,
    /// Instructions issued so far.
    pub instructions: u64,
    /// Blocks of the grid that have ended, and all of them, on a machine that runs grids.
    pub blocks: Option<(u64, u64)>,
}
