//! Which loops are candidates, outermost first (TOM paper, section 3.1.3). A loop pays for its
//! registers once and saves in each trip.

use std::collections::BTreeSet;

use nbcc_analysis::listing::{Effect, Facts, NaturalLoop, Trips, trips};
use nbcc_isa_tom::cost::{self, Amounts};
use nbcc_isa_tom::machine::Cost;

use super::found::{Candidate, Found, Range, Rejected, amounts};
use super::limits::{self, Reason};

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iterations {
    /// That often.
    Static(u64),
    /// It is known where the loop is entered.
    Runtime,
    /// It is not.
    Unknown,
}

/// The loops of a kernel.
pub struct Nest {
    loops: Vec<NaturalLoop>,
    trips: Vec<Trips>,
    /// The loops that each lies in, itself first.
    around: Vec<Vec<usize>>,
}

impl Nest {
    fn new(facts: &Facts<'_>) -> Nest {
        let loops = facts.flow.loops();
        let trips = loops.iter().map(|natural| trips(facts, natural)).collect();
        // Larger loops come first: those around a loop are before it.
        let around = (0..loops.len())
            .map(|inner| {
                let header = loops[inner].header;
                let outer = (0..inner).filter(|&outer| loops[outer].contains(header));
                std::iter::once(inner).chain(outer).collect()
            })
            .collect();
        Nest { loops, trips, around }
    }

    /// The branches back to headers.
    pub fn latches(&self) -> impl Iterator<Item = u32> {
        self.loops.iter().flat_map(|natural| natural.latches.iter().copied())
    }

    /// Loads and stores of a loop in one trip: those of a loop inside as often as it runs, if that is
    /// known, else once.
    fn accesses(&self, facts: &Facts<'_>, number: usize) -> (u64, u64) {
        let natural = &self.loops[number];
        let inner: Vec<usize> = (number + 1..self.loops.len())
            .filter(|&inner| self.around[inner].contains(&number))
            .collect();
        let (mut loads, mut stores) = (0u64, 0u64);
        for &at in &natural.body {
            let effect = facts.listing.code[at as usize].effect;
            if !matches!(effect, Effect::Load | Effect::Store) {
                continue;
            }
            let holding = inner.iter().filter(|&&inner| self.loops[inner].contains(at));
            let times = holding.fold(1u64, |times, &inner| match self.trips[inner] {
                Trips::Static(trips) => times.saturating_mul(trips),
                Trips::Runtime | Trips::Unknown => times,
            });
            let sum = if effect == Effect::Load { &mut loads } else { &mut stores };
            *sum = sum.saturating_add(times);
        }
        (loads, stores)
    }
}

/// The loops that are candidates, and why the others are none.
pub fn find(facts: &Facts<'_>, cost: &Cost) -> (Found, Nest) {
    let nest = Nest::new(facts);
    let mut found = Found::default();
    let mut chosen = BTreeSet::new();
    for (number, natural) in nest.loops.iter().enumerate() {
        let (first, last) = natural.extent();
        let range = Range { first, last };
        let inside = nest.around[number].iter().any(|outer| chosen.contains(outer));
        let limit = if inside {
            Some((Reason::InsideCandidate, None))
        } else if !natural.is_range() {
            Some((Reason::ControlFlow, None))
        } else {
            limits::of_range(facts, range).map(|(reason, culprit)| (reason, Some(culprit)))
        };
        if let Some((reason, culprit)) = limit {
            found.rejected.push(Rejected { range, reason, culprit, sum: None });
            continue;
        }
        let (candidate, iterations, pays) = judge(facts, cost, &nest, number, range);
        if pays {
            chosen.insert(number);
            found.candidates.push(candidate);
        } else {
            let sum = Some((candidate.amounts, iterations));
            let reason = Reason::NoBenefit;
            found.rejected.push(Rejected { range, reason, culprit: None, sum });
        }
    }
    (found, nest)
}

/// The loop as a candidate, how often it runs, and whether it pays: as often as it runs, from some
/// number of trips on, or in one.
fn judge(
    facts: &Facts<'_>,
    cost: &Cost,
    nest: &Nest,
    number: usize,
    range: Range,
) -> (Candidate, Iterations, bool) {
    let live = facts.live_sets(range.first, range.last);
    let (loads, stores) = nest.accesses(facts, number);
    let amounts: Amounts = amounts(&live, loads, stores);
    let (iterations, pays) = match nest.trips[number] {
        Trips::Static(trips) => {
            (Iterations::Static(trips), cost::traffic(cost, &amounts, trips).pays())
        }
        Trips::Runtime => (Iterations::Runtime, cost::threshold(cost, &amounts).is_some()),
        Trips::Unknown => (Iterations::Unknown, cost::traffic(cost, &amounts, 1).pays()),
    };
    (Candidate { range, iterations: Some(iterations), live, amounts }, iterations, pays)
}
