//! Which parts of a kernel are worth running beside memory (TOM paper, section 3.1): loops and
//! ranges of instructions whose accesses would move more over the links than the registers that
//! they take and leave. The rules work on a listing, of the source as it is written or of the code
//! that a machine runs.

mod blocks;
mod found;
mod limits;
mod loops;
mod report;
mod tree;

use nbcc_analysis::listing::{Effect, Facts, Listing};
use nbcc_isa_tom::machine::Cost;

pub use found::{Candidate, Found, Range, Rejected};
pub use limits::Reason;
pub use loops::Iterations;
pub use report::json;

use found::amounts;

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

#[cfg(test)]
mod tests;
