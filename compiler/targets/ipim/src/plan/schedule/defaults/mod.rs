//! The schedule of what has none: which Funcs are computed at each use and which whole, which stage
//! what they read, how large tiles are.
//!
//! A choice is judged by the plan that it leads to ([`Trial::cost`]): the pipeline is inlined, its
//! bounds are inferred, the plan is made and its cycles are estimated (`plan/cost`). The search
//! starts from the best of a few rules and changes one decision at a time while that pays
//! ([`search`]). What it decides becomes directives, so that `explain` can print them and a pasted
//! schedule is the same schedule.

pub mod budget;
pub mod contest;
mod directives;
mod search;
mod sites;
mod trial;

use nbcc_base::SourceMap;
use nbcc_isa_ipim::Machine;
use nbcc_stages::bounds::{Extents, ParamValues, not_whole};
use nbcc_stages::{Directive, DirectiveKind, FuncData, Pipeline};

use directives::direct;
pub use directives::inner_names;
pub use search::Found;
pub use sites::{Site, sites};
pub use trial::Trial;

use super::scheduled_tile;

/// How Funcs without a schedule get one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// By estimated cycles.
    #[default]
    Model,
    /// The same, also for what the source schedules.
    Ignore,
    /// Computed at each use wherever possible, tiles of one size.
    Simple,
    /// Computed whole, tiles of one size.
    Root,
}

impl Rule {
    /// The rule of that name.
    pub fn named(name: &str) -> Option<Rule> {
        match name {
            "model" => Some(Rule::Model),
            "ignore" => Some(Rule::Ignore),
            "simple" => Some(Rule::Simple),
            "root" => Some(Rule::Root),
            _ => None,
        }
    }
}

/// Gives a schedule to what has none. A pipeline in which any Func is scheduled is taken at its
/// word: what it does not mention is computed at each use, as in Halide, and only tiles are chosen. With
/// it comes what was found, where it was searched for.
pub fn schedule(
    pipeline: &Pipeline,
    extents: &Extents,
    machine: &Machine,
    rule: Rule,
    sources: &SourceMap,
) -> (Pipeline, Option<Found>) {
    // What the source says is set aside before this.
    let free = !is_scheduled(pipeline);
    match rule {
        Rule::Root if free => {
            let mut new = pipeline.clone();
            let never = not_whole(pipeline, extents, &ParamValues::new(), |func| {
                search::is_free(pipeline, func)
            });
            for site in sites(pipeline, sources).into_iter().flatten() {
                let funcs = site.funcs.iter().filter(|func| !never.contains(func));
                funcs.for_each(|&f| direct(&mut new, f, DirectiveKind::ComputeRoot));
            }
            (new, None)
        }
        Rule::Model | Rule::Ignore if free || !all_tiled(pipeline) => {
            let sites = sites(pipeline, sources).filter(|_| free).unwrap_or_default();
            let trial = Trial { pipeline, extents, machine, sites: &sites };
            let found = search::search(&trial);
            (found.choice.apply(pipeline, &found.sites), Some(found))
        }
        Rule::Simple | Rule::Root | Rule::Model | Rule::Ignore => (pipeline.clone(), None),
    }
}

/// Whether every Func with loops of its own says how large its tiles are.
fn all_tiled(pipeline: &Pipeline) -> bool {
    pipeline.funcs.keys().all(|func| {
        nbcc_stages::is_inlined(pipeline, func) || scheduled_tile(pipeline, func).is_some()
    })
}

/// Whether a directive is more than a bound and leaves the Funcs as they are.
fn schedules(directive: &Directive) -> bool {
    !matches!(
        directive.kind,
        DirectiveKind::Bound { .. } | DirectiveKind::SetEstimate { .. } | DirectiveKind::Rfactor(_)
    )
}

/// Whether any Func has a directive that is more than a bound and leaves the Funcs as they are.
pub fn is_scheduled(pipeline: &Pipeline) -> bool {
    let any = |directives: &[Directive]| directives.iter().any(schedules);
    let of = |data: &FuncData| {
        any(&data.schedule.directives)
            || data.updates.iter().any(|update| any(&update.schedule.directives))
    };
    pipeline.funcs.values().any(of)
}

/// The pipeline without those directives.
pub fn unscheduled(mut pipeline: Pipeline) -> Pipeline {
    for func in pipeline.funcs.keys().collect::<Vec<_>>() {
        let data = &mut pipeline.funcs[func];
        let updates = data.updates.iter_mut().map(|update| &mut update.schedule);
        for schedule in updates.chain([&mut data.schedule]) {
            schedule.directives.retain(|directive| !schedules(directive));
        }
    }
    pipeline
}
