//! The schedules of stages, and names of stages and loops in words.

use nbcc_base::Span;
use nbcc_stages::{Directive, Func, Pipeline, Schedule};

use crate::plan::Stage;

/// The schedules of a Func: of its pure definition, then of each update.
pub(super) fn schedules(
    pipeline: &Pipeline,
    func: Func,
) -> impl Iterator<Item = (Stage, &Schedule)> {
    let data = &pipeline.funcs[func];
    let updates = data.updates.iter().enumerate();
    std::iter::once((Stage::Pure, &data.schedule))
        .chain(updates.map(|(k, update)| (Stage::Update(k), &update.schedule)))
}

/// The schedule of a stage.
pub(super) fn schedule_of(pipeline: &Pipeline, func: Func, stage: Stage) -> &Schedule {
    let data = &pipeline.funcs[func];
    match stage {
        Stage::Pure => &data.schedule,
        Stage::Update(k) => &data.updates[k].schedule,
    }
}

/// A stage in words: `f`, or `update 0 of f`.
pub(super) fn stage_name(pipeline: &Pipeline, func: Func, stage: Stage) -> String {
    let name = &pipeline.funcs[func].name;
    match stage {
        Stage::Pure => name.clone(),
        Stage::Update(k) => format!("update {k} of {name}"),
    }
}

/// A loop's name as the source writes it.
pub(super) fn shown(name: &str) -> String {
    name.replace('$', ".")
}

/// Directives that one call of the source made (`tile` makes three), in order.
pub(super) fn groups(schedule: &Schedule) -> Vec<&[Directive]> {
    let same = |a: &Directive, b: &Directive| a.span == b.span && a.span != Span::default();
    schedule.directives.chunk_by(same).collect()
}
