//! The mappers there are. One more is a function and a line of [`MAPPERS`]; docs/mapping.md shows it.

use std::time::Duration;

use super::placement::Answer;
use super::problem::Problem;
use super::random::Random;
use super::schedule::{Preferences, schedule};
use super::{ilp, search};

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
        about: "all schedules at once, small graphs only",
        place: search::exhaust,
    },
    Mapper { name: "ilp", about: "an integer program for one schedule", place: by_ilp },
];

/// The mapper of that name.
pub fn find(name: &str) -> Option<&'static Mapper> {
    MAPPERS.iter().find(|mapper| mapper.name == name)
}

/// The integer program for the schedule of the shortest lifetimes. That this schedule cannot be
/// placed does not say that no other can.
fn by_ilp(problem: &Problem<'_>) -> Answer {
    let Problem { dfg, grid, ii, budget, work, is_counted, .. } = *problem;
    let mut random = Random::new(0);
    let none = Preferences::none(dfg);
    let Some(time) = schedule(dfg, grid, ii, &none, &[], &budget, &mut random) else {
        return Answer::Unknown;
    };
    let windows: Vec<_> = time.iter().map(|&t| t..t + 1).collect();
    match ilp::place(dfg, grid, ii, &windows, &budget, is_counted.then_some(work)) {
        Answer::Impossible => Answer::Unknown,
        answer => answer,
    }
}

/// The time that a mapper may take where nobody said.
pub const PATIENCE: Duration = Duration::from_secs(6);

/// After which nothing is tried any more where nobody said.
pub const LONGEST: Duration = Duration::from_millis(8500);
