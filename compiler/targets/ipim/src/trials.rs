//! Programs that are compiled in two ways, since only the estimate of their code tells which is faster: each
//! way is an attempt under a configuration of its own.

use crate::configuration::{Configuration, Trial};
use crate::estimate;
use crate::state::Compilation;

/// One of so many cycles of a loop the estimate may leave out: it takes rounds to be alike, but rows of banks
/// end in some, and are refreshed in others.
const UNKNOWN: u64 = 16;

/// The program to try beside the one that there is: in which vectors are computed together, then in
/// which loops over few tiles stand in full, or either only where it takes no longer for it.
pub fn next(state: &Compilation) -> Option<Configuration> {
    jammed(state).or_else(|| complete(state))
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

/// Cycles of each step, by the estimate.
fn of_steps(state: &Compilation) -> Vec<u64> {
    estimate::of_steps(state).iter().map(|taken| taken.cost.cycles()).collect()
}
