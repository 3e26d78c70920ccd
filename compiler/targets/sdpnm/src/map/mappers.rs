//! The mappers there are. One more is a function and a line of [`MAPPERS`]; docs/mapping.md shows it.

use std::time::Duration;

use nbcc_isa_sdpnm::Graph;

use super::budget::Budget;
use super::dfg::{Dfg, Grid};
use super::placement::{Answer, Placement};
use super::random::Random;
use super::schedule::{Wishes, schedule};
use super::{ilp, search};

/// What a mapper is asked: a mapping at one interval.
pub struct Problem<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Its operations and dependences.
    pub dfg: &'a Dfg,
    /// The array.
    pub grid: &'a Grid,
    /// The initiation interval, at least the MII.
    pub ii: i64,
    /// When to give up.
    pub budget: Budget,
    /// How often to try, where not as often as the mapper likes.
    pub rounds: Option<u32>,
}

impl Problem<'_> {
    /// Whether a placement keeps all rules of the array, which the checker says. A mapper that does
    /// not count registers finds out here.
    pub fn is_right(&self, placement: &Placement) -> bool {
        let mapping = placement.mapping(self.graph, self.dfg);
        nbcc_isa_sdpnm::check(self.graph, &self.grid.array, &mapping).is_ok()
    }
}

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
    let Problem { dfg, grid, ii, budget, .. } = *problem;
    let mut random = Random::new(0);
    let Some(time) = schedule(dfg, grid, ii, &Wishes::none(dfg), &budget, &mut random) else {
        return Answer::Unknown;
    };
    let windows: Vec<_> = time.iter().map(|&t| t..t + 1).collect();
    match ilp::place(dfg, grid, ii, &windows, &budget) {
        Answer::Impossible => Answer::Unknown,
        answer => answer,
    }
}

/// The time that a mapper may take where nobody said.
pub const PATIENCE: Duration = Duration::from_secs(6);
