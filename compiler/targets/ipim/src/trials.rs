//! Programs that are compiled in two ways, since only the estimate of their code tells which is faster: each
//! way is an attempt under a configuration of its own.

use crate::configuration::{Alternative, Configuration, Trial};
use crate::estimate;
use crate::plan::Step;
use crate::state::Compilation;

/// One of so many cycles of a loop the estimate may leave out: it takes rounds to be alike, but rows of banks
/// end in some, and are refreshed in others.
const UNKNOWN: u64 = 16;

/// The program to try beside the one that there is: in which vectors are computed together, then in
/// which loops over few tiles stand in full, or either only where it takes no longer for it; then one in which
/// updates stay loops, or what there was before.
pub fn next(state: &Compilation) -> Option<Configuration> {
    jammed(state).or_else(|| complete(state)).or_else(|| loops_of_updates(state))
}

fn jammed(state: &Compilation) -> Option<Configuration> {
    let configuration = &state.configuration;
    if configuration.complete != Trial::Open {
        return None;
    }
    let steps = state.jams.keys().copied().collect();
    let jam = configuration.jam.next(&steps, || of_steps(state), |before, now| now < before)?;
    Some(configuration.jam(jam))
}

fn complete(state: &Compilation) -> Option<Configuration> {
    let pays = |before, now| now < before + before / UNKNOWN;
    let now = || estimate::of_kernels(state);
    let complete = state.configuration.complete.next(&state.complete, now, pays)?;
    Some(state.configuration.complete(complete))
}

/// Part of a definition, an update loads once what neighbouring points read. Of copies, though, each vector
/// reads its own then, and what vectors that run through a loop together have in common is read once.
fn loops_of_updates(state: &Compilation) -> Option<Configuration> {
    let configuration = &state.configuration;
    match &configuration.updates {
        Alternative::Open if state.updates_unrolled && reads_copies(state) => {
            let cycles = of_steps(state).iter().sum();
            Some(Configuration {
                unroll_updates: false,
                updates: Alternative::Against(cycles, Box::new(configuration.clone())),
                ..state.first.clone()
            })
        }
        Alternative::Against(before, other) if of_steps(state).iter().sum::<u64>() >= *before => {
            Some(Configuration { updates: Alternative::Settled, ..(**other).clone() })
        }
        _ => None,
    }
}

/// Whether stages read what tiles do not serve them with.
fn reads_copies(state: &Compilation) -> bool {
    let mut steps = state.plan().steps.iter();
    steps.any(|step| matches!(step, Step::Tiles(step) if !step.nest.copy_of.is_empty()))
}

/// Cycles of each step, by the estimate.
fn of_steps(state: &Compilation) -> Vec<u64> {
    estimate::of_steps(state).iter().map(|taken| taken.cost.cycles()).collect()
}
