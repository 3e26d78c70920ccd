//! Funcs that are computed whole though nothing asks for it, because programs that compute them at
//! each use do not fit.
//!
//! What a schedule leaves out is computed at each use, as in Halide, and a chain of stages that read
//! each other at many places may then come to more code than the machine holds. Such a program is
//! made again with fewer Funcs repeated, those first that repeat most.

use std::collections::BTreeSet;

use nbcc_base::Diagnostics;
use nbcc_placement::{Message, Remark, RemarkKind};
use nbcc_stages::bounds::{Extents, ParamValues, not_whole};
use nbcc_stages::{DirectiveKind, Func, Pipeline, is_inlined};

use super::direct;
use super::search::Sizes;

/// Expressions that all uses of a Func may come to, from attempt to attempt.
const LIMITS: [u64; 4] = [4000, 400, 40, 0];

/// No limit: what the schedule says.
pub const NO_LIMIT: u64 = u64::MAX;

/// A program of more expressions is made only if no Func can be repeated less.
const MAX_EXPRESSIONS: usize = 20_000;

/// The Funcs that are computed whole under a limit.
fn whole(pipeline: &Pipeline, extents: &Extents, limit: u64) -> Vec<Func> {
    if limit == NO_LIMIT {
        return vec![];
    }
    of_limit(pipeline, &never(pipeline, extents), limit)
}

/// The Funcs that can only be repeated.
fn never(pipeline: &Pipeline, extents: &Extents) -> BTreeSet<Func> {
    not_whole(pipeline, extents, &ParamValues::new(), |func| is_inlined(pipeline, func))
}

fn of_limit(pipeline: &Pipeline, never: &BTreeSet<Func>, limit: u64) -> Vec<Func> {
    let free = |func| is_inlined(pipeline, func) && !never.contains(&func);
    Sizes::of(pipeline, &[]).repeated_beyond(limit, free)
}

/// The next limit under which more Funcs are computed whole.
pub fn next(pipeline: &Pipeline, extents: &Extents, limit: u64) -> Option<u64> {
    let never = never(pipeline, extents);
    let now = if limit == NO_LIMIT { vec![] } else { of_limit(pipeline, &never, limit) };
    let mut lower = LIMITS.into_iter().filter(|&lower| lower < limit);
    lower.find(|&lower| of_limit(pipeline, &never, lower).len() > now.len())
}

/// The pipeline inlined under a limit, or under a lower one where that makes expressions too many.
/// A remark tells of each Func that is not repeated.
pub fn inline(
    pipeline: &Pipeline,
    extents: &Extents,
    limit: &mut u64,
) -> Result<(Pipeline, Vec<Remark>), Diagnostics> {
    loop {
        let (scheduled, remarks) = apply(pipeline, extents, *limit);
        let inlined = nbcc_stages::inline(&scheduled);
        let large = inlined.as_ref().map_or(true, |p| p.exprs.len() > MAX_EXPRESSIONS);
        match large.then(|| next(pipeline, extents, *limit)).flatten() {
            Some(lower) => *limit = lower,
            None => return Ok((inlined?, remarks)),
        }
    }
}

fn apply(pipeline: &Pipeline, extents: &Extents, limit: u64) -> (Pipeline, Vec<Remark>) {
    let mut new = pipeline.clone();
    let mut remarks = Vec::new();
    for func in whole(pipeline, extents, limit) {
        direct(&mut new, func, DirectiveKind::ComputeRoot);
        let data = &pipeline.funcs[func];
        remarks.push(Remark {
            kind: RemarkKind::Missed,
            pass: "inline",
            name: "NotRepeated",
            function: data.name.clone(),
            span: Some(data.span),
            message: Message::of(
                "computed whole: computed at each use, it makes the program too large",
            ),
            terms: vec![],
        });
    }
    (new, remarks)
}
