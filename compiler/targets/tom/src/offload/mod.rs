//! Which parts of a kernel are worth running beside memory (TOM paper, section 3.1): loops and
//! ranges of instructions whose accesses would move more over the links than the registers that
//! they take and leave. The rules work on a listing, of the source as it is written or of the code
//! that a machine runs.

mod blocks;
mod limits;
mod loops;
mod report;
mod tree;

use nbcc_analysis::listing::{Effect, Facts, Listing, LiveSets};
use nbcc_isa_tom::cost::{self, Amounts};
use nbcc_isa_tom::machine::Cost;

pub use limits::Reason;
pub use loops::Iterations;
pub use report::json;

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

/// The candidates of a kernel and the loops that are none.
pub fn find(listing: &Listing, cost: &Cost) -> Found {
    if listing.code.is_empty() {
        return Found::default();
    }
    let facts = Facts::new(listing);
    let (mut found, nest) = loops::find(&facts, cost);
    // Besides latches no other branch backward is in a range: what it leads to is no natural loop.
    let goes_back = |at: usize| listing.code[at].targets.iter().any(|&to| to as usize <= at);
    let mut barred: Vec<bool> = (0..listing.code.len())
        .map(|at| limits::of_effect(listing.code[at].effect).is_some() || goes_back(at))
        .collect();
    for latch in nest.latches() {
        barred[latch as usize] = true;
    }
    for candidate in &found.candidates {
        let Range { first, last } = candidate.range;
        barred[first as usize..=last as usize].fill(true);
    }
    for range in blocks::find(&facts, cost, &barred) {
        let Range { first, last } = range;
        let lines = &listing.code[first as usize..=last as usize];
        let count = |effect| lines.iter().filter(|line| line.effect == effect).count() as u64;
        let live = facts.live_sets(first, last);
        let amounts = amounts(&live, count(Effect::Load), count(Effect::Store));
        found.candidates.push(Candidate { range, iterations: None, live, amounts });
    }
    found.candidates.sort_by_key(|candidate| candidate.range);
    found.rejected.sort_by_key(|rejected| rejected.range);
    found
}

/// The numbers of the equations.
fn amounts(live: &LiveSets, loads: u64, stores: u64) -> Amounts {
    Amounts {
        registers_in: (live.registers_in.len() + live.inputs.len()) as u64,
        registers_out: live.registers_out.len() as u64,
        loads,
        stores,
    }
}

#[cfg(test)]
mod tests;
