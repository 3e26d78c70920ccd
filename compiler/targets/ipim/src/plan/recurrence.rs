//! Recurrences of scans: what an update reads of its own Func is what it stored some rounds of its
//! innermost loop ago, as `f(x, r) = g(f(x, r - 1))` does.

use nbcc_stages::bounds::{Affine, AffineVar, IndexForm};
use nbcc_stages::{Expr, Func};

use super::access::{Source, accesses};
use super::reads::inner_index;
use super::{Plan, Stage};

/// A recurrence along the first variable of a reduction domain, which runs fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// The dimensions from this on are not tiled.
    from: usize,
    /// Where a round stores along these.
    stored: Vec<Affine>,
    /// That of these along which rounds move on, and by how much.
    step: (usize, i64),
    /// Rounds between a store and the last that reads it.
    pub rounds: u32,
}

/// Values of so many rounds are kept.
const MAX_KEPT_ROUNDS: i64 = 4;

/// The dimensions of a Func computed tile by tile that are tiled.
const TILED: usize = 2;

/// The recurrence of update `k` of a Func computed tile by tile, where it has one.
pub fn recurrence(plan: &Plan, func: Func, k: usize) -> Option<Recurrence> {
    along(plan, func, k, TILED)
}

/// The same of a Func that one engine computes.
pub fn serial_recurrence(plan: &Plan, func: Func, k: usize) -> Option<Recurrence> {
    along(plan, func, k, 0)
}

/// The recurrence of an update along a dimension from `from` on.
fn along(plan: &Plan, func: Func, k: usize, from: usize) -> Option<Recurrence> {
    let pipeline = &plan.pipeline;
    let update = &pipeline.funcs[func].updates[k];
    let rdom = update.rdom.filter(|&rdom| pipeline.rdoms[rdom].predicates.is_empty())?;
    let stored = planes(plan, &update.args, from)?;
    let fastest = AffineVar::RVar(rdom, 0);
    let steps = stored.iter().map(|plane| plane.terms.get(&fastest).copied().unwrap_or(0));
    let mut steps = steps.enumerate().filter(|(_, step)| *step != 0);
    let step = steps.next().filter(|_| steps.next().is_none())?;
    let mut found = Recurrence { from, stored, step, rounds: 0 };
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
        let read = planes(plan, args, self.from)?;
        let mut behind = 0;
        for (n, (read, stored)) in read.iter().zip(&self.stored).enumerate() {
            let distance = stored.combine(1, read, -1)?.as_constant()?;
            match n == along {
                true => behind = distance,
                false if distance != 0 => return None,
                false => {}
            }
        }
        let whole = behind % step == 0 && (1..=MAX_KEPT_ROUNDS).contains(&(behind / step));
        whole.then(|| (behind / step) as u32)
    }
}

/// The coordinates from dimension `from` on, where nothing decides them but loop counters of those that are
/// not tiled.
fn planes(plan: &Plan, args: &[Expr], from: usize) -> Option<Vec<Affine>> {
    let coordinates = args.iter().skip(from).map(|&arg| plan.forms[arg].as_ref());
    let affine = |form: &IndexForm| match from {
        0 => form.as_affine().cloned(),
        _ => inner_index(form).cloned(),
    };
    coordinates.map(|form| form.and_then(affine)).collect()
}
