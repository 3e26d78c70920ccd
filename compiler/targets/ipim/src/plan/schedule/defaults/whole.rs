//! Another schedule for programs that are too large: Funcs that would be computed anew at several
//! places are computed whole, whatever their directives say.

use std::collections::BTreeMap;

use nbcc_stages::bounds::{Extents, ParamValues, infer};
use nbcc_stages::{DirectiveKind, ExprKind, Func, Pipeline, Walker, inline, is_inlined};

use super::direct;

/// Where there are more candidates than this, they are not tried one by one.
const MAX_TRIALS: usize = 64;

/// A pipeline in which Funcs that several places repeat are computed whole, and these Funcs. Left as
/// they are are those that have no limits unless their consumers give them. `None` where there are
/// no such Funcs.
pub fn whole(pipeline: &Pipeline, extents: &Extents) -> Option<(Pipeline, Vec<Func>)> {
    let candidates = repeated(pipeline);
    let all = with(pipeline, &candidates);
    if candidates.is_empty() || fits(&all, extents) == Some(true) {
        return (!candidates.is_empty()).then_some((all, candidates));
    }
    if candidates.len() > MAX_TRIALS {
        return None;
    }
    let mut chosen = vec![];
    for func in candidates {
        chosen.push(func);
        if fits(&with(pipeline, &chosen), extents) == Some(false) {
            chosen.pop();
        }
    }
    let new = with(pipeline, &chosen);
    (!chosen.is_empty() && fits(&new, extents) == Some(true)).then_some((new, chosen))
}

/// Whether the pipeline has bounds; `None` where inlining makes it too large to tell.
fn fits(pipeline: &Pipeline, extents: &Extents) -> Option<bool> {
    let inlined = inline(pipeline).ok()?;
    Some(infer(&inlined, extents, &ParamValues::new()).is_ok())
}

fn with(pipeline: &Pipeline, funcs: &[Func]) -> Pipeline {
    let mut new = pipeline.clone();
    funcs.iter().for_each(|&func| direct(&mut new, func, DirectiveKind::ComputeRoot));
    new
}

/// Funcs without loops of their own that more than one expression calls.
fn repeated(pipeline: &Pipeline) -> Vec<Func> {
    let mut uses: BTreeMap<Func, u32> = BTreeMap::new();
    let mut walker = Walker::default();
    for func in pipeline.funcs.keys() {
        for expr in walker.reachable(pipeline, pipeline.func_roots(func)) {
            if let ExprKind::Call(callee, ..) = pipeline.exprs[expr].kind {
                *uses.entry(callee).or_default() += 1;
            }
        }
    }
    let repeated = uses.into_iter().filter(|&(_, count)| count > 1).map(|(func, _)| func);
    repeated.filter(|&func| is_inlined(pipeline, func)).collect()
}
