//! Schedules: which directives are legal, what they ask of this target, and what became of each.
//!
//! Before planning, [`check`] refuses what cannot be meant: places that do not enclose every use,
//! orders that change the result. What is legal but not what this machine does (the order of loops
//! in a tile, say) changes no result; after planning, [`settle`] leaves a remark on each directive
//! that says whether it was followed and, where not, what is done instead.

pub mod defaults;
mod hazards;
mod levels;
mod loops;
mod settle;

use nbcc_base::{Diagnostics, Span};
use nbcc_stages::{Directive, Func, Pipeline, Schedule};

use super::Stage;

pub use loops::{MAX_TILE, scheduled_tile, within};
pub use settle::settle;

/// Refuses directives that no loop nest could follow.
///
/// # Errors
/// One diagnostic for each, at the directive.
pub fn check(pipeline: &Pipeline) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    levels::check(pipeline, &mut found);
    hazards::check(pipeline, &mut found);
    if found.has_errors() { Err(found) } else { Ok(()) }
}

/// The schedules of a Func: of its pure definition, then of each update.
fn schedules(pipeline: &Pipeline, func: Func) -> impl Iterator<Item = (Stage, &Schedule)> {
    let data = &pipeline.funcs[func];
    let updates = data.updates.iter().enumerate();
    std::iter::once((Stage::Pure, &data.schedule))
        .chain(updates.map(|(k, update)| (Stage::Update(k), &update.schedule)))
}

/// The schedule of a stage.
fn schedule_of(pipeline: &Pipeline, func: Func, stage: Stage) -> &Schedule {
    let data = &pipeline.funcs[func];
    match stage {
        Stage::Pure => &data.schedule,
        Stage::Update(k) => &data.updates[k].schedule,
    }
}

/// A stage in words: `f`, or `update 0 of f`.
fn stage_name(pipeline: &Pipeline, func: Func, stage: Stage) -> String {
    let name = &pipeline.funcs[func].name;
    match stage {
        Stage::Pure => name.clone(),
        Stage::Update(k) => format!("update {k} of {name}"),
    }
}

/// A loop's name as the source writes it.
fn shown(name: &str) -> String {
    name.replace('$', ".")
}

/// Directives that one call of the source made (`tile` makes three), in order.
fn groups(schedule: &Schedule) -> Vec<&[Directive]> {
    let same = |a: &Directive, b: &Directive| a.span == b.span && a.span != Span::default();
    schedule.directives.chunk_by(same).collect()
}
