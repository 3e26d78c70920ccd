//! The schedule of what has none: which Funcs are computed at each use and which whole, which stage
//! what they read, how large tiles are.
//!
//! A choice is judged by the plan that it leads to ([`Trial::cost`]): the pipeline is inlined, its
//! bounds are inferred, the plan is made and its cycles are estimated (`plan/cost`). The search
//! starts from the best of a few rules and changes one decision at a time while that pays
//! ([`search`]). What it decides becomes directives, so that `explain` can print them and a pasted
//! schedule is the same schedule.

pub mod budget;
mod search;
mod sites;
mod trial;

use nbcc_base::{SourceMap, Span};
use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::{Extents, ParamValues, not_whole};
use nbcc_stages::{Directive, DirectiveArg, DirectiveKind, Func, FuncData, Pipeline};

pub use sites::{Site, sites};
use trial::Trial;

use super::super::Finding;
use super::scheduled_tile;

/// How Funcs without a schedule get one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// By estimated cycles.
    #[default]
    Model,
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
            "simple" => Some(Rule::Simple),
            "root" => Some(Rule::Root),
            _ => None,
        }
    }
}

/// Gives a schedule to what has none. A pipeline in which any Func is scheduled is taken at its
/// word: what it does not mention is computed at each use, as in Halide, and only tiles are chosen.
pub fn schedule(
    pipeline: &Pipeline,
    extents: &Extents,
    machine: &Machine,
    rule: Rule,
    sources: &SourceMap,
) -> (Pipeline, Vec<Finding>) {
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
            (new, vec![])
        }
        Rule::Model if free || !all_tiled(pipeline) => {
            let trial = Trial { pipeline, extents, machine };
            let sites = sites(pipeline, sources).filter(|_| free).unwrap_or_default();
            let found = search::search(&trial, &sites);
            (found.choice.apply(pipeline), found.findings(pipeline))
        }
        Rule::Simple | Rule::Root | Rule::Model => (pipeline.clone(), vec![]),
    }
}

/// Whether every Func with loops of its own says how large its tiles are.
fn all_tiled(pipeline: &Pipeline) -> bool {
    pipeline.funcs.keys().all(|func| {
        nbcc_stages::is_inlined(pipeline, func) || scheduled_tile(pipeline, func).is_some()
    })
}

/// Whether any Func has a directive that is more than a bound and leaves the Funcs as they are.
pub fn is_scheduled(pipeline: &Pipeline) -> bool {
    let any = |directives: &[Directive]| {
        directives.iter().any(|d| {
            !matches!(
                d.kind,
                DirectiveKind::Bound { .. }
                    | DirectiveKind::SetEstimate { .. }
                    | DirectiveKind::Rfactor(_)
            )
        })
    };
    let of = |data: &FuncData| {
        any(&data.schedule.directives)
            || data.updates.iter().any(|update| any(&update.schedule.directives))
    };
    pipeline.funcs.values().any(of)
}

/// Adds a directive that no source has.
fn direct(pipeline: &mut Pipeline, func: Func, kind: DirectiveKind) {
    pipeline.funcs[func].schedule.directives.push(Directive { kind, span: Span::default() });
}

/// The names of the loops over the elements of a tile.
pub fn inner_names(data: &FuncData) -> Vec<String> {
    let inner = |var: &String| {
        let mut name = format!("{var}i");
        while data.vars.contains(&name) {
            name.push('i');
        }
        name
    };
    data.vars.iter().take(2).map(inner).collect()
}

/// The `ipim_tile` that asks for tiles of that size.
fn tile_directive(data: &FuncData, tile: [u32; 2]) -> DirectiveKind {
    let outer = data.vars.iter().take(2).cloned();
    let names = outer.chain(inner_names(data)).map(DirectiveArg::Var);
    let dims = data.vars.len().min(2);
    let sizes = tile.iter().take(dims).map(|&n| DirectiveArg::Int(n.into()));
    DirectiveKind::Target { name: "ipim_tile", args: names.chain(sizes).collect() }
}

/// The `load_pgsm` that stages all that a Func reads.
fn staging_directive(data: &FuncData) -> DirectiveKind {
    let args = inner_names(data).into_iter().map(DirectiveArg::Var).collect();
    DirectiveKind::Target { name: "load_pgsm", args }
}

/// The width of a tile is a multiple of this.
const STEP: u32 = LANES as u32;
