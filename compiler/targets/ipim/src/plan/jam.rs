//! How many vectors of a nest run through the loops of a reduction domain together (unroll-and-jam:
//! Callahan, Cocke and Kennedy, "Estimating interlock and improving balance for pipelined
//! architectures", 1988): a round waits for the round before it, other vectors do not, and what rounds
//! of several vectors read alike is read once.

use std::collections::BTreeMap;

use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::Walker;

use super::access::{Source, accesses};
use super::{Plan, Stage, Step, TileStep, in_place, kept_planes, recurrence};

/// The most vectors: operations of eight cover what one of them waits for.
const MOST: u32 = 8;

/// The most expressions of the body of a loop, for all its vectors.
const EXPRESSIONS: u32 = 256;

/// Kernels with loops that have as many each; of more, bodies are smaller.
const KERNELS: u32 = 8;

/// The most elements that a vector is thought to have under way at once.
const UNDER_WAY: u32 = 4;

/// Vectors whose loops over a domain are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jam {
    /// Steps of a nest's loops along x and over rows, which have as many vectors each as the nest unrolls, that
    /// are taken together.
    pub steps: [u32; 2],
    /// The most vectors of these in one loop.
    pub vectors: u32,
}

/// The steps of a plan, by their numbers, of which several vectors can run through the loops over the domain
/// together.
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

/// The vectors of a step whose loops over the domain can be one, with bodies of up to `size` expressions: not
/// where the stage has no domain, or keeps what it computes in the bank from round to round.
fn jam(plan: &Plan, machine: &Machine, step: &TileStep, size: u32) -> Option<Jam> {
    let &TileStep { func, stage, ref nest, .. } = step;
    let Stage::Update(k) = stage else { return None };
    let rdom = nest.rdom.as_ref()?.0;
    let pipeline = &plan.pipeline;
    let rounds = if in_place(pipeline, func, k) {
        1
    } else if kept_planes(plan, machine, func, k).is_some() {
        return None;
    } else {
        recurrence(plan, func, k)?.rounds
    };
    let data = &pipeline.funcs[func];
    let carried = data.types.len() as u32 * rounds;
    let reads = accesses(pipeline, func, stage);
    let reads = reads.iter().filter(|access| access.source != Source::Func(func)).count() as u32;
    // What it carries, the next of it, and what it has read.
    let live = 2 * carried + reads.min(UNDER_WAY);
    let update = &data.updates[k];
    let roots = update.values.iter().chain(&pipeline.rdoms[rdom].predicates).copied();
    let expressions = Walker::default().reachable(pipeline, roots).len() as u32;
    let most = MOST.min(machine.registers.data / 2 / live.max(1)).min(size / expressions.max(1));
    let [ux, uy] = nest.unroll;
    let divisor =
        |n: u32, most: u32| (1..=most.max(1)).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1);
    let along_x = divisor(nest.tiles.tile[0] / LANES as u32 / ux, most / (ux * uy));
    let steps = [along_x, divisor(nest.block_rows / uy, most / (ux * uy * along_x))];
    let vectors = most.min(steps[0] * ux * steps[1] * uy);
    (vectors > 1).then_some(Jam { steps, vectors })
}
