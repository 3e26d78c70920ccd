//! The place in the source that a kernel belongs to: the stage that it computes or, where it moves
//! data, the first access in whose service it does.

use nbcc_base::Span;

use crate::plan::{BufferId, Nest, Plan, Read, SerialStep, Stage, Step, accesses, span_of};

/// The place of step `number` of a plan.
pub(crate) fn of_step(plan: &Plan, number: usize) -> Option<Span> {
    let funcs = &plan.pipeline.funcs;
    match &plan.steps[number] {
        Step::Tiles(step) => Some(span_of(&funcs[step.func], step.stage)),
        Step::Serial(step) => Some(span_of(&funcs[step.func], step.stage)),
        Step::Reduce(step) => {
            let updates = &funcs[step.func].updates;
            let update = updates.iter().find(|update| update.values.contains(&step.value));
            Some(update.map_or(plan.pipeline.exprs[step.value].span, |update| update.span))
        }
        Step::Exchange(buffer) => of_buffer(plan, number + 1, *buffer),
        Step::Redistribute { to, .. } => {
            of_buffer(plan, number + 1, *to).or_else(|| of_home(plan, *to))
        }
    }
}

/// The definition of the Func whose values a buffer keeps.
fn of_home(plan: &Plan, buffer: BufferId) -> Option<Span> {
    let kept = plan.pipeline.funcs.keys().find(|&func| plan.funcs[func].contains(&buffer))?;
    Some(span_of(&plan.pipeline.funcs[kept], Stage::Pure))
}

/// The first access that a buffer serves in the steps from `number` on.
fn of_buffer(plan: &Plan, number: usize, buffer: BufferId) -> Option<Span> {
    let place = |step: &Step| match step {
        Step::Tiles(step) => of_nest(plan, &step.nest, buffer),
        Step::Reduce(step) => of_nest(plan, &step.nest, buffer),
        Step::Serial(step) => of_serial(plan, step, buffer),
        Step::Exchange(_) | Step::Redistribute { .. } => None,
    };
    let copied = |(n, step): (usize, &Step)| match step {
        Step::Redistribute { from, to, .. } if *from == buffer => of_buffer(plan, n + 1, *to),
        _ => None,
    };
    let later = || plan.steps.iter().enumerate().skip(number);
    later().find_map(|(_, step)| place(step)).or_else(|| later().find_map(copied))
}

fn of_nest(plan: &Plan, nest: &Nest, buffer: BufferId) -> Option<Span> {
    let read = nest.read_of.iter().filter(|(_, n)| nest.reads[**n].buffer == buffer);
    let copied = nest.copy_of.iter().filter(|(_, id)| **id == buffer);
    let access = read.map(|(expr, _)| expr).chain(copied.map(|(expr, _)| expr)).min()?;
    Some(plan.pipeline.exprs[*access].span)
}

/// The first access that a read of a nest serves.
pub(crate) fn of_read(plan: &Plan, nest: &Nest, read: &Read) -> Option<Span> {
    let same = |n: usize| std::ptr::eq(&nest.reads[n], read);
    let (access, _) = nest.read_of.iter().find(|(_, n)| same(**n))?;
    Some(plan.pipeline.exprs[*access].span)
}

fn of_serial(plan: &Plan, step: &SerialStep, buffer: BufferId) -> Option<Span> {
    let (&of, _) = step.sources.iter().find(|(_, id)| **id == buffer)?;
    let read = accesses(&plan.pipeline, step.func, step.stage);
    let access = read.iter().find(|access| (access.source, access.value) == of)?;
    Some(plan.pipeline.exprs[access.expr].span)
}
