//! What a plan costs: cycles of the busiest vault, estimated from the plan and the machine alone.
//!
//! A vault issues in order, one instruction a cycle for all its engines, so what a kernel takes is
//! what one engine's instructions take with their waits: [`body`] issues the expressions of one
//! vector against the latencies of [`times`]; loops multiply it; [`moves`] adds what is brought
//! between banks, bound by instructions, TSVs or the network.

mod body;
mod bounds;
mod moves;
mod nest;
mod operations;
mod times;

use std::collections::HashSet;

use nbcc_isa_ipim::Machine;
use nbcc_stages::Walker;

use super::{Plan, Step};
pub use bounds::{Bounds, Taken};
pub use times::Times;

/// What a step is estimated to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles before the first element: constants, positions, barriers.
    pub setup: u64,
    /// Cycles in which windows are filled.
    pub windows: u64,
    /// Cycles in which elements are computed and stored.
    pub compute: u64,
    /// Cycles in which elements are brought from other banks.
    pub moves: u64,
    /// Instructions of its code.
    pub code: u64,
}

impl Cost {
    /// All cycles.
    pub fn cycles(&self) -> u64 {
        [self.windows, self.compute, self.moves].into_iter().fold(self.setup, u64::saturating_add)
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.setup, other.setup);
        sum(&mut self.windows, other.windows);
        sum(&mut self.compute, other.compute);
        sum(&mut self.moves, other.moves);
        sum(&mut self.code, other.code);
    }
}

/// The estimate for each step of a plan.
pub fn costs(plan: &Plan, machine: &Machine) -> Vec<Cost> {
    let times = Times::of(machine);
    let mut walker = Walker::default();
    let cx = Estimate { plan, machine, times };
    plan.steps
        .iter()
        .map(|step| match step {
            Step::Exchange(id) => cx.exchange(&plan.buffers[*id]),
            Step::Redistribute { from, to, order, .. } => {
                cx.copy(&plan.buffers[*from], &plan.buffers[*to], order)
            }
            Step::Tiles(step) => cx.tiles(step, &mut walker),
            Step::Reduce(step) => cx.reduce(step, &mut walker),
            Step::Serial(step) => cx.serial(step, &mut walker),
        })
        .collect()
}

/// The estimate for a whole plan.
pub fn total(plan: &Plan, machine: &Machine) -> Cost {
    sum(&costs(plan, machine))
}

/// The estimate for the steps of a plan together. Kernels of as much code are one, mostly, as those of the
/// stages of a chain and of levels of pyramids: it is counted once.
pub fn sum(costs: &[Cost]) -> Cost {
    let mut sum = Cost::default();
    let mut known = HashSet::new();
    for &cost in costs {
        let code = if known.insert((cost.setup, cost.code)) { cost.code } else { 0 };
        sum += Cost { code, ..cost };
    }
    sum
}

/// What estimates need.
struct Estimate<'a> {
    plan: &'a Plan,
    machine: &'a Machine,
    times: Times,
}
