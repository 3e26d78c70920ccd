//! Recurrences of scans: what an update reads of its own Func is what it stored some rounds of its
//! innermost loop ago, as `f(x, r) = g(f(x, r - 1))` does.

use nbcc_stages::bounds::{Affine, AffineVar};
use nbcc_stages::{Expr, Func};

use super::access::{Source, accesses};
use super::reads::inner_index;
use super::{Plan, Stage};

/// A recurrence along the first variable of a reduction domain, which runs fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// Where a round stores, along the dimensions that are not tiled.
    stored: Vec<Affine>,
    /// The dimension along which rounds move on, and by how much.
    step: (usize, i64),
    /// Rounds between a store and the last that reads it.
    pub rounds: u32,
}

/// Values of so many rounds are kept.
const MOST: i64 = 4;

/// The recurrence of update `k` of a Func computed tile by tile, where it has one.
pub fn recurrence(plan: &Plan, func: Func, k: usize) -> Option<Recurrence> {
    let pipeline = &plan.pipeline;
    let update = &pipeline.funcs[func].updates[k];
    let rdom = update.rdom.filter(|&rdom| pipeline.rdoms[rdom].predicates.is_empty())?;
    let stored = planes(plan, &update.args)?;
    let fastest = AffineVar::RVar(rdom, 0);
    let steps = stored.iter().map(|plane| plane.terms.get(&fastest).copied().unwrap_or(0));
    let mut steps = steps.enumerate().filter(|(_, step)| *step != 0);
    let step = steps.next().filter(|_| steps.next().is_none())?;
    let mut found = Recurrence { stored, step, rounds: 0 };
    let own = accesses(pipeline, func, Stage::Update(k));
    let own = own.iter().filter(|access| access.source == Source::Func(func));
    let rounds = own.filter_map(|access| found.ago(plan, &access.args)).max()?;
    found.rounds = rounds;
    Some(found)
}

impl Recurrence {
    /// How many rounds ago the element at coordinates was stored, at least one.
    pub fn ago(&self, plan: &Plan, args: &[Expr]) -> Option<u32> {
        let (along, step) = self.step;
        let read = planes(plan, args)?;
        let mut behind = 0;
        for (n, (read, stored)) in read.iter().zip(&self.stored).enumerate() {
            let distance = stored.combine(1, read, -1)?.as_constant()?;
            match n == along {
                true => behind = distance,
                false if distance != 0 => return None,
                false => {}
            }
        }
        let whole = behind % step == 0 && (1..=MOST).contains(&(behind / step));
        whole.then(|| (behind / step) as u32)
    }
}

/// The planes that coordinates lie in, where nothing but loop counters decides them.
fn planes(plan: &Plan, args: &[Expr]) -> Option<Vec<Affine>> {
    let planes = args.iter().skip(2);
    planes.map(|&arg| plan.forms[arg].as_ref().and_then(inner_index).cloned()).collect()
}
