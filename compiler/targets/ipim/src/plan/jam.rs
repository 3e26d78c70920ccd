//! Vectors that are computed together.
//!
//! Where a stage has a reduction domain, they run through its loops together (unroll-and-jam: Callahan, Cocke
//! and Kennedy, "Estimating interlock and improving balance for pipelined architectures", 1988): a round waits
//! for the round before it, other vectors do not, and what rounds of several vectors read alike is read once.
//! Where planes of an inner dimension have much in common, as the channels of a picture that are scaled
//! alike, the vectors at the same place of several planes are computed together, and that once (loop
//! interchange, then unrolling).

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::AffineVar;
use nbcc_stages::{Expr, ExprKind, Pipeline, RDom, Walker};

use super::access::{Source, accesses, varies_along};
use super::grid::greatest_divisor;
use super::{Nest, Plan, Read, Stage, Step, TileStep, in_place, kept_planes, recurrence};

/// The most vectors: operations of eight cover what one of them waits for.
const MAX_VECTORS: u32 = 8;

/// The most expressions of the body of a loop, for all its vectors.
const EXPRESSIONS: u32 = 256;

/// Kernels with loops that have as many each; of more, bodies are smaller.
const KERNELS: u32 = 8;

/// The most elements that a vector is thought to have under way at once.
const UNDER_WAY: u32 = 4;

/// The most planes whose vectors are computed together.
const PLANES: u32 = 4;

/// Planes have enough in common if so many of the operations of one are no more than so many times those which
/// are the same in all.
const COMMON: usize = 4;

/// Vectors that are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jam {
    /// Steps of a nest's loops along x and over rows, which have as many vectors each as the nest unrolls, that
    /// are taken together.
    pub steps: [u32; 2],
    /// Planes along dimension 2 that are taken together.
    pub planes: u32,
    /// The most vectors of these in one loop.
    pub vectors: u32,
}

/// The steps of a plan, by their numbers, of which several vectors can be computed together.
pub fn jams(plan: &Plan, machine: &Machine) -> BTreeMap<usize, Jam> {
    let of_domain = |step: &&Step| matches!(step, Step::Tiles(step) if step.nest.rdom.is_some());
    let kernels = plan.steps.iter().filter(of_domain).count() as u32;
    let size = EXPRESSIONS * KERNELS / kernels.max(KERNELS);
    let steps = plan.steps.iter().enumerate().filter_map(|(number, step)| {
        let Step::Tiles(step) = step else { return None };
        Some((number, jam(plan, machine, step, size)?))
    });
    steps.collect()
}

/// The vectors of a step that can be computed together, with bodies of up to `size` expressions.
fn jam(plan: &Plan, machine: &Machine, step: &TileStep, size: u32) -> Option<Jam> {
    match (step.stage, &step.nest.rdom) {
        (Stage::Update(k), Some((rdom, _))) => {
            through_domain(plan, machine, step, (k, *rdom), size)
        }
        (Stage::Pure, _) => of_planes(plan, step, size),
        (Stage::Update(_), None) => None,
    }
}

/// Vectors whose loops over a domain can be one: not where the stage keeps what it computes in the bank from
/// round to round.
fn through_domain(
    plan: &Plan,
    machine: &Machine,
    step: &TileStep,
    (k, rdom): (usize, RDom),
    size: u32,
) -> Option<Jam> {
    let &TileStep { func, stage, ref nest, .. } = step;
    let pipeline = &plan.pipeline;
    let (rounds, planes) = if in_place(pipeline, func, k) {
        (1, planes(nest))
    } else if kept_planes(plan, machine, func, k).is_some() {
        return None;
    } else {
        (recurrence(plan, func, k)?.rounds, 1)
    };
    let data = &pipeline.funcs[func];
    let carried = data.types.len() as u32 * rounds;
    let reads = accesses(pipeline, func, stage);
    let reads = reads.iter().filter(|access| access.source != Source::Func(func)).count() as u32;
    // What it carries, the next of it, and what it has read.
    let live = 2 * carried + reads.min(UNDER_WAY);
    let update = &data.updates[k];
    let roots = update.values.iter().chain(&pipeline.rdoms[rdom].predicates).copied();
    let expressions = Walker::once(pipeline, roots).len() as u32;
    let most =
        MAX_VECTORS.min(machine.registers.data / 2 / live.max(1)).min(size / expressions.max(1));
    let [ux, uy] = nest.unroll;
    let planes = greatest_divisor(planes, PLANES.min(most));
    let most_steps = most / planes / (ux * uy);
    let along_x = greatest_divisor(nest.tiles.tile[0] / LANES as u32 / ux, most_steps);
    let steps = [along_x, greatest_divisor(nest.block_rows / uy, most_steps / along_x)];
    let vectors = most.min(steps[0] * ux * steps[1] * uy * planes);
    (vectors > 1).then_some(Jam { steps, planes, vectors })
}

/// The vectors of planes that have much in common.
fn of_planes(plan: &Plan, step: &TileStep, size: u32) -> Option<Jam> {
    let nest = &step.nest;
    let pipeline = &plan.pipeline;
    let values = &pipeline.funcs[step.func].pure.as_ref()?.values;
    let all = planes(nest);
    if all == 1 {
        return None;
    }
    let (operations, common) = operations(pipeline, values, size as usize)?;
    let planes = greatest_divisor(all, PLANES.min(size / operations.max(1) as u32));
    let worth = planes > 1 && common > 0 && operations <= COMMON * common;
    worth.then_some(Jam { steps: [1, 1], planes, vectors: planes })
}

/// Planes along dimension 2 for which windows and tables hold the same; otherwise one.
fn planes(nest: &Nest) -> u32 {
    let along = AffineVar::Dim(2);
    let other = |read: &Read| {
        let filled = read.window.is_some() || read.patched;
        filled && read.inner_base.iter().any(|base| base.terms.contains_key(&along))
    };
    match nest.region.get(2) {
        Some(_) if nest.reads.iter().any(other) => 1,
        Some(interval) => match nest.cut() {
            Some((2, planes)) => planes,
            _ => interval.extent(),
        },
        None => 1,
    }
}

/// The operations of expressions, and those of them that are the same along dimension 2: coordinates of
/// accesses are none, accesses are. `None` if there are more than `most` expressions.
fn operations(pipeline: &Pipeline, values: &[Expr], most: usize) -> Option<(usize, usize)> {
    let mut seen = BTreeSet::new();
    let mut stack = values.to_vec();
    let (mut all, mut common) = (0, 0);
    while let Some(expr) = stack.pop() {
        if !seen.insert(expr) {
            continue;
        }
        let kind = &pipeline.exprs[expr].kind;
        let access = matches!(kind, ExprKind::Load(..) | ExprKind::Call(..));
        let mut leaf = true;
        kind.each_operand(|operand| {
            leaf = false;
            if !access {
                stack.push(operand);
            }
        });
        if leaf && !access {
            continue;
        }
        all += 1;
        if all > most {
            return None;
        }
        common += usize::from(!varies_along(pipeline, &[expr], 2));
    }
    Some((all, common))
}
