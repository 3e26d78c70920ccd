//! Data-flow graphs on arrays of processing elements, at the least initiation interval
//! (docs/mapping.md; SDPNM paper, section 3.4). The interval starts at the MII and grows only where
//! the mapper proves that there is no mapping, or gives up; which of them, the outcome says.

pub mod anneal;
pub mod banks;
pub mod broadcast;
pub mod budget;
pub mod colours;
pub mod dfg;
pub mod embed;
pub mod ilp;
pub mod lifetimes;
pub mod loosen;
pub mod mappers;
pub mod memory;
pub mod mii;
pub mod placement;
pub mod problem;
pub mod program;
pub mod random;
pub mod sat;
pub mod schedule;
pub mod search;
pub mod solved;
pub mod strands;
pub mod tries;
pub mod windows;

use std::time::Duration;

use nbcc_isa_sdpnm::{Array, Graph, Mapping};

use banks::Banks;
use budget::{Budget, Work};
use dfg::{Dep, Dfg, Grid};
use mappers::{LONGEST, Mapper, PATIENCE};
use mii::Mii;
use placement::Answer;
use problem::Problem;

/// What is asked for.
#[derive(Debug)]
pub struct Request<'a> {
    /// The array.
    pub array: &'a Array,
    /// The longest interval that is tried.
    pub max_ii: u32,
    /// After which nothing is tried any more.
    pub time_limit: Duration,
    /// How long one interval is tried.
    pub effort: Effort,
    /// Who maps.
    pub mapper: &'static Mapper,
}

/// How long an interval is tried before the next one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// While the mapper gets on, within seconds.
    Usual,
    /// All of the time for the least interval.
    Patient,
    /// So many rounds at the least interval and one at others, whatever time that takes: what is found
    /// depends on no clock.
    Rounds(u32),
}

/// A mapping and what is known of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The mapping.
    pub mapping: Mapping,
    /// The bounds of the interval; operations are those of `dfg`.
    pub mii: Mii,
    /// The operations that are placed.
    pub dfg: Dfg,
    /// Whether there is no mapping at a smaller interval.
    pub is_proved: bool,
    /// What it took.
    pub time: Duration,
}

/// Why there is no mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoMapping {
    /// The least interval is longer than allowed.
    MiiTooLong(u32),
    /// None was found up to the longest interval.
    MaxIi,
    /// The mapper takes more work than there is for a program.
    TooMuch,
    /// The time was over at that interval.
    TimeOver(u32),
}

/// Maps a graph.
///
/// # Errors
/// Why there is no mapping.
pub fn map(graph: &Graph, request: &Request<'_>) -> Result<Outcome, NoMapping> {
    map_with(graph, request, Known::default())
}

/// What is known of a graph beside its edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// What is known of the addresses of accesses.
    pub banks: Option<Banks>,
    /// Operations that must come after others, by their nodes, which are all placed. Not every mapper
    /// looks at these.
    pub orders: Vec<Dep>,
    /// The interval that is asked for: no shorter one is tried.
    pub least: u32,
}

/// Maps a graph of which more is known than its edges.
///
/// # Errors
/// Why there is no mapping.
pub fn map_with(graph: &Graph, request: &Request<'_>, known: Known) -> Result<Outcome, NoMapping> {
    map_within(graph, request, known, &Work::default())
}

/// Maps a graph with what is left of the work that may be done for it and others.
fn map_within(
    graph: &Graph,
    request: &Request<'_>,
    known: Known,
    work: &Work,
) -> Result<Outcome, NoMapping> {
    let Known { banks, orders, least } = known;
    work.begin();
    let dfg = Dfg { banks, ..Dfg::new(graph).ordered(orders) };
    let res = mii::resources(&dfg, request.array).bound();
    if res > request.max_ii {
        return Err(NoMapping::MiiTooLong(res));
    }
    let mii = mii::mii(&dfg, request.array);
    if mii.mii.max(least) > request.max_ii {
        return Err(NoMapping::MiiTooLong(mii.mii.max(least)));
    }
    let grid = Grid::new(request.array);
    let whole = Budget::new(match request.effort {
        Effort::Usual => LONGEST.min(request.time_limit),
        Effort::Patient | Effort::Rounds(_) => request.time_limit,
    });
    let patience = match request.effort {
        Effort::Patient => request.time_limit,
        Effort::Usual | Effort::Rounds(_) => PATIENCE.min(request.time_limit),
    };
    let first = mii.mii.max(least);
    let mut is_proved = first == mii.mii;
    let mut ii = first;
    loop {
        work.begin_interval();
        // Half of what is left of the patience is for this interval; after that, a quick try each.
        let spent = whole.spent();
        let left = patience.saturating_sub(spent);
        let half = whole.until(spent + left / 2);
        let (is_quick, budget, rounds) = match request.effort {
            Effort::Rounds(_) if ii > first => (true, whole, Some(1)),
            Effort::Rounds(rounds) => (false, whole, Some(rounds)),
            Effort::Usual | Effort::Patient if left < patience / 8 => (true, whole, Some(2)),
            Effort::Patient => (false, half, Some(u32::MAX)),
            Effort::Usual => (false, half, None),
        };
        let at = i64::from(ii);
        let is_counted = matches!(request.effort, Effort::Rounds(_));
        let grid = &grid;
        let problem = Problem { graph, dfg: &dfg, grid, ii: at, budget, rounds, work, is_counted };
        match (request.mapper.place)(&problem) {
            Answer::Placed(placement) => {
                let mapping = placement.mapping(graph, &dfg);
                let time = whole.spent();
                return Ok(Outcome { mapping, mii, dfg, is_proved, time });
            }
            Answer::Impossible => {}
            Answer::Unknown => is_proved = false,
            Answer::TooMuch => return Err(NoMapping::TooMuch),
        }
        if whole.is_over() {
            return Err(NoMapping::TimeOver(ii));
        }
        if ii == request.max_ii {
            return Err(NoMapping::MaxIi);
        }
        // Without patience intervals are left out, more the longer they are.
        let step = if is_quick { 1 + ii / 4 } else { 1 };
        is_proved &= step == 1;
        ii = request.max_ii.min(ii + step);
    }
}
