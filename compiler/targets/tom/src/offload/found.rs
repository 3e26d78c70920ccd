//! What is found in a kernel: ranges that are worth running beside memory, and loops that are not.

use nbcc_analysis::listing::LiveSets;
use nbcc_isa_tom::cost::{self, Amounts};
use nbcc_isa_tom::machine::Cost;

use super::limits::Reason;
use super::loops::Iterations;

/// A range of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The first, by index.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// A range that is worth running beside memory.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its instructions.
    pub range: Range,
    /// How often it runs, if it is a loop.
    pub iterations: Option<Iterations>,
    /// What it takes and leaves.
    pub live: LiveSets,
    /// The numbers of the equations; of a loop, for one trip.
    pub amounts: Amounts,
}

/// A loop that is none.
#[derive(Clone, Copy, Debug)]
pub struct Rejected {
    /// From its first to its last instruction.
    pub range: Range,
    /// Why.
    pub reason: Reason,
    /// The first instruction that makes it so, if it is one.
    pub culprit: Option<u32>,
    /// What its sum is made of, and how often it runs, if that is why.
    pub sum: Option<(Amounts, Iterations)>,
}

/// What was found in a kernel.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The candidates, which do not overlap, in order.
    pub candidates: Vec<Candidate>,
    /// The other loops, in order.
    pub rejected: Vec<Rejected>,
}

impl Candidate {
    /// The trips at which its sums are stated: those that are known, else those from which it pays.
    pub fn trips(&self, cost: &Cost) -> u64 {
        match self.iterations {
            Some(Iterations::Static(trips)) => trips,
            Some(Iterations::Runtime) => cost::threshold(cost, &self.amounts).unwrap_or(1),
            Some(Iterations::Unknown) | None => 1,
        }
    }
}

/// The numbers of the equations.
pub(super) fn amounts(live: &LiveSets, loads: u64, stores: u64) -> Amounts {
    Amounts {
        registers_in: (live.registers_in.len() + live.inputs.len()) as u64,
        registers_out: live.registers_out.len() as u64,
        loads,
        stores,
    }
}
