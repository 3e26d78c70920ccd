//! The mappers there are. One more is a function and a line of [`MAPPERS`]; docs/mapping.md shows it.

use std::time::Duration;

use super::placement::Answer;
use super::problem::Problem;
use super::random::Random;
use super::schedule::{Preferences, schedule};
use super::{ilp, sat, search};

/// A mapper.
#[derive(Debug)]
pub struct Mapper {
    /// What `--mapper` calls it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Maps at one interval. `Impossible` only where there is no mapping at that interval.
    pub place: fn(&Problem<'_>) -> Answer,
}

/// All mappers, the one that is used where none is named first.
pub static MAPPERS: &[Mapper] = &[
    Mapper { name: "search", about: "annealing, then SAT", place: search::place },
    Mapper {
        name: "sat",
        about: "all schedules at once, of larger graphs those near one",
        place: by_sat,
    },
    Mapper { name: "ilp", about: "an integer program for one schedule", place: by_ilp },
];

/// The mapper of that name.
pub fn find(name: &str) -> Option<&'static Mapper> {
    MAPPERS.iter().find(|mapper| mapper.name == name)
}

/// Cycles that operations may be away from the schedule of the shortest lifetimes, either way, where
/// there are too many schedules to look at all.
const AWAY: [i64; 3] = [0, 1, 3];

/// Satisfiability for all schedules, which is exact; where it comes to no end, for those near that of
/// the shortest lifetimes, of which nothing follows for others.
fn by_sat(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, budget, .. } = *problem;
    match search::exhaust(problem) {
        Answer::Placed(placed) if problem.is_right(&placed) => return Answer::Placed(placed),
        Answer::Placed(_) | Answer::Unknown => {}
        answer => return answer,
    }
    let Some(time) = shortest(problem) else { return Answer::Unknown };
    for away in AWAY {
        match sat::place(dfg, grid, ii, &search::within(&time, away), STEPS, budget.clock()) {
            Answer::Placed(placed) if problem.is_right(&placed) => return Answer::Placed(placed),
            _ => {}
        }
    }
    Answer::Unknown
}

/// Decisions of the SAT solver for schedules near one.
const STEPS: u64 = 64_000;

/// The schedule of the shortest lifetimes.
fn shortest(problem: &Problem<'_>) -> Option<Vec<i64>> {
    let Problem { dfg, grid, ii, budget, .. } = problem;
    let none = Preferences::none(dfg);
    schedule(dfg, grid, *ii, &none, &[], budget, &mut Random::new(0))
}

/// The integer program for the schedule of the shortest lifetimes. That this schedule cannot be
/// placed does not say that no other can.
fn by_ilp(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, budget, work, is_counted, .. } = *problem;
    let Some(time) = shortest(problem) else { return Answer::Unknown };
    let windows = search::within(&time, 0);
    match ilp::place(dfg, grid, ii, &windows, &budget, is_counted.then_some(work)) {
        Answer::Impossible => Answer::Unknown,
        answer => answer,
    }
}

/// The time that a mapper may take where nobody said.
pub const PATIENCE: Duration = Duration::from_secs(6);

/// After which nothing is tried any more where nobody said.
pub const LONGEST: Duration = Duration::from_millis(8500);
