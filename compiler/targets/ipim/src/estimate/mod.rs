//! What the code of a program takes, estimated from its instructions: each kernel is issued as a
//! control core would issue it ([`control_core`]), loops a few times around and then by what the last round
//! took. Unlike the estimate of a plan (`plan/cost`), by which schedules are chosen, it knows the order
//! of the instructions and their registers. And what no order could take less than: one instruction a
//! cycle, what banks serve, what the TSVs carry.

mod answers;
mod banks;
mod control_core;
mod walk;

use nbcc_isa_ipim::Machine;
use nbcc_placement::{Message, Remark, RemarkKind, Term};
use rayon::prelude::*;

use crate::kernel::KernelCall;
use crate::plan::cost::{Cost, Taken, Times};
use crate::plan::{Plan, Step};
use crate::state::Compilation;

/// What each step of the plan takes. The program must have been made.
pub fn of_steps(state: &Compilation) -> Vec<Taken> {
    let steps = &state.plan().steps;
    let mut taken = vec![Taken::default(); steps.len()];
    let barrier = Times::of(&state.machine).barrier;
    let (kernels, machine) = (&state.selected, &state.machine);
    let known: Vec<walk::Sums> =
        kernels.par_iter().map(|kernel| walk::kernel(kernel, machine)).collect();
    let mut last = None;
    for call in &state.calls {
        let again = last.replace(call.step) == Some(call.step);
        let sums = known[call.kernel];
        let Some(of) = taken.get_mut(call.step) else { continue };
        let moving = matches!(steps[call.step], Step::Exchange(_) | Step::Redistribute { .. });
        let sums = call.merged.map_or(sums, |(own, all)| sums.part(own, all));
        let alone = cost(&sums, moving, &state.machine);
        of.cost += alone;
        if let Step::Redistribute { from, to, .. } = &steps[call.step] {
            let ends = [from, to].map(|&id| &state.plan().buffers[id]);
            let answered = answers::last(sums.requests, ends, again, &state.machine);
            let moves = answered.saturating_sub(alone.cycles());
            of.cost += Cost { moves, ..Cost::default() };
        }
        let around = calling(call) + if call.sync.is_some() { barrier } else { 0 };
        of.cost += Cost { setup: around, ..Cost::default() };
        of.bounds += sums.bounds;
    }
    taken
}

/// What each kernel takes when it runs once, in cycles. The program must have been made.
pub fn of_kernels(state: &Compilation) -> Vec<u64> {
    let machine = &state.machine;
    let cycles = |kernel| walk::kernel(kernel, machine).cycles();
    state.selected.par_iter().map(cycles).collect()
}

/// A remark for each step of the plan: what its code takes.
pub fn remarks(state: &Compilation) -> Vec<Remark> {
    let plan = state.plan();
    let remark = |(number, (step, taken)): (usize, (&Step, Taken))| {
        let bounds = taken.bounds;
        let (largest, what) = bounds.largest();
        let cycles = taken.cost.cycles();
        Remark {
            kind: RemarkKind::Analysis,
            pass: "emit",
            name: "Code",
            function: name(plan, step),
            span: state.calls.iter().find(|call| call.step == number).and_then(|call| call.place),
            message: Message::of(format!("about {cycles} cycles, no less than "))
                .value("Bound", largest)
                .text(format!(" for the {what}")),
            terms: vec![
                Term::new("EstimatedCycles", cycles),
                Term::new("Issue", bounds.issue),
                Term::new("Banks", bounds.banks),
                Term::new("Simd", bounds.simd),
                Term::new("IntAlu", bounds.int_alu),
                Term::new("Tsvs", bounds.tsvs),
            ],
        }
    };
    plan.steps.iter().zip(of_steps(state)).enumerate().map(remark).collect()
}

/// The Func or the buffer that a step is for.
fn name(plan: &Plan, step: &Step) -> String {
    let func = |func| plan.pipeline.funcs[func].name.clone();
    match step {
        Step::Exchange(id) | Step::Redistribute { to: id, .. } => plan.buffers[*id].name.clone(),
        Step::Tiles(step) => func(step.func),
        Step::Reduce(step) => func(step.func),
        Step::Serial(step) => func(step.func),
    }
}

/// Cycles of a kernel by what they are for. One that only moves elements computes nothing.
fn cost(sums: &walk::Sums, moving: bool, machine: &Machine) -> Cost {
    // Banks that are refreshed serve nothing: of each interval the rest gets on.
    let dram = &machine.dram;
    let closed = if dram.refresh { u64::from(dram.t_rfc) } else { 0 };
    let stalled = sums.stalled(closed);
    let on = u64::from(dram.t_refi).saturating_sub(stalled);
    let all = |cycles: u64| cycles + walk::part_of(cycles, stalled, on);
    let (moves, compute) = match moving {
        true => (sums.moves + sums.compute, 0),
        false => (sums.moves, sums.compute),
    };
    Cost {
        setup: sums.setup,
        windows: all(sums.windows),
        compute: all(compute),
        moves: all(moves),
        code: sums.code,
    }
}

/// Cycles in which the arguments of a kernel are set and it is called.
fn calling(call: &KernelCall) -> u64 {
    match call.bases.len() + call.constants.len() {
        0 => 0,
        arguments => 2 * arguments as u64 + 8,
    }
}
