//! The inlining budget: what all uses of a Func that is computed at each use may come to.
//!
//! What a schedule leaves out is computed at each use, as in Halide, and a chain of stages that read
//! each other at many places may then come to more code than the machine holds. Such a program is
//! compiled again under a smaller budget: Funcs that exceed it are computed whole though nothing
//! asks for it.

use std::collections::BTreeSet;

use nbcc_base::Diagnostics;
use nbcc_stages::bounds::{Extents, ParamValues, not_whole};
use nbcc_stages::{DirectiveKind, Func, Pipeline, is_inlined};

use super::directives::direct;
use super::search::Sizes;
use crate::plan::{Finding, FindingKind};

/// Budgets in expressions, from attempt to attempt.
const BUDGETS: [u64; 4] = [4000, 400, 40, 0];

/// No limit: what the schedule says.
pub const UNLIMITED: u64 = u64::MAX;

/// A program of more expressions is compiled only if no smaller budget inlines less.
const MAX_EXPRESSIONS: usize = 20_000;

/// The Funcs that exceed a budget and can be computed whole.
fn exceeding(pipeline: &Pipeline, never: &BTreeSet<Func>, budget: u64) -> Vec<Func> {
    if budget == UNLIMITED {
        return vec![];
    }
    let free = |func| is_inlined(pipeline, func) && !never.contains(&func);
    Sizes::of(pipeline, &[]).repeated_beyond(budget, free)
}

/// The Funcs that can only be computed at each use.
fn never_whole(pipeline: &Pipeline, extents: &Extents) -> BTreeSet<Func> {
    not_whole(pipeline, extents, &ParamValues::new(), |func| is_inlined(pipeline, func))
}

/// The next budget under which more Funcs are computed whole. `pipeline` is the one before anything
/// is inlined.
pub fn smaller(pipeline: &Pipeline, extents: &Extents, budget: u64) -> Option<u64> {
    let never = never_whole(pipeline, extents);
    let now = exceeding(pipeline, &never, budget).len();
    let mut lower = BUDGETS.into_iter().filter(|&lower| lower < budget);
    lower.find(|&lower| exceeding(pipeline, &never, lower).len() > now)
}

/// The budget to try instead where what [`inline`] made within one is too large, or nothing: the
/// next smaller one, if there is any. `pipeline` is the one before anything is inlined.
pub fn instead<T>(
    inlined: &Result<(Pipeline, T), Diagnostics>,
    pipeline: &Pipeline,
    extents: &Extents,
    budget: u64,
) -> Option<u64> {
    let large = |(new, _): &(Pipeline, T)| new.exprs.len() > MAX_EXPRESSIONS;
    let large = inlined.as_ref().map_or(true, large);
    large.then(|| smaller(pipeline, extents, budget)).flatten()
}

/// The pipeline inlined within a budget, and which Funcs are computed whole for that.
///
/// # Errors
/// What cannot be inlined.
pub fn inline(
    pipeline: &Pipeline,
    extents: &Extents,
    budget: u64,
) -> Result<(Pipeline, Vec<Finding>), Diagnostics> {
    let mut new = pipeline.clone();
    let mut findings = Vec::new();
    if budget < UNLIMITED {
        for func in exceeding(pipeline, &never_whole(pipeline, extents), budget) {
            direct(&mut new, func, DirectiveKind::ComputeRoot);
            let data = &pipeline.funcs[func];
            let (about, span) = (data.name.clone(), Some(data.span));
            findings.push(Finding { about, span, kind: FindingKind::NotRepeated });
        }
    }
    Ok((nbcc_stages::inline(&new)?, findings))
}
