//! Funcs whose updates have no dimension in common along which every point keeps to itself, such as an
//! integral image of a scan along the rows and one along the columns: each run of updates that do have
//! one becomes a Func of its own, which begins with the values of the one before, so that each is
//! distributed along its own dimensions and what moves between them is one copy.

use nbcc_base::Span;
use nbcc_stages::bounds::{Bounds, FuncBounds, Interval, StageLoops};
use nbcc_stages::{
    Definition, ElementType, Expr, ExprKind, Func, FuncData, Pipeline, Schedule, Update, Walker,
};

use super::Finding;
use super::order::{both, free_in};

/// The pipeline with such Funcs split, its bounds, and nothing to say of it. `None` where there is none.
pub fn split(pipeline: &Pipeline, bounds: &Bounds) -> Option<(Pipeline, Bounds, Vec<Finding>)> {
    let needed: Vec<(Func, Vec<usize>)> = bounds
        .needed(pipeline)
        .map(|(func, of)| (func, runs(pipeline, func, &of.region)))
        .collect();
    let falls_apart =
        |(func, runs): &(Func, Vec<usize>)| runs.len() > 1 && !conditions_call(pipeline, *func);
    if !needed.iter().any(falls_apart) {
        return None;
    }
    let mut split = (pipeline.clone(), bounds.clone());
    let mut order = Vec::new();
    for one in &needed {
        if falls_apart(one) {
            order.extend(split_off(&mut split, one.0, &one.1));
        }
        order.push(one.0);
    }
    let (pipeline, mut bounds) = split;
    bounds.order = order;
    Some((pipeline, bounds, vec![]))
}

/// The first update of each run of updates that have a free dimension in common, or none at all. One
/// run where all have.
fn runs(pipeline: &Pipeline, func: Func, region: &[Interval]) -> Vec<usize> {
    let any = |free: &[bool]| free.iter().any(|&free| free);
    let mut begins = Vec::new();
    let mut common: Vec<bool> = vec![];
    for k in 0..pipeline.funcs[func].updates.len() {
        let own = free_in(pipeline, func, k);
        let joint = both(&common, &own);
        let stays = any(&joint) == (any(&common) || any(&own));
        if k > 0 && stays && !pays(region, &joint, [&common, &own]) {
            common = joint;
        } else {
            begins.push(k);
            common = own;
        }
    }
    begins
}

/// What two updates have in common is less than this where it pays to move what is between them: points that
/// keep to themselves.
const MAX_COMMON: u64 = 64;

/// Each of so few has as many elements to go through at least.
const MIN_ELEMENTS: u64 = 1024;

/// Whether updates with these free dimensions are better done apart, for what they have in common is little
/// beside what each of them has, as the colours of an integral image's scans are.
fn pays(region: &[Interval], joint: &[bool], each: [&[bool]; 2]) -> bool {
    let extents = || region.iter().map(|interval| u64::from(interval.extent()));
    let points = |free: &[bool]| {
        let mut free: Vec<u64> =
            extents().zip(free).filter(|(_, free)| **free).map(|(extent, _)| extent).collect();
        free.sort_unstable();
        free.iter().rev().take(2).product::<u64>()
    };
    let (few, most) = (points(joint), each.map(points));
    let all = extents().fold(1, u64::saturating_mul);
    few < MAX_COMMON && most.iter().all(|&most| most > 4 * few) && all / few.max(1) >= MIN_ELEMENTS
}

/// Whether conditions of a domain that a Func's updates run over depend on it.
fn conditions_call(pipeline: &Pipeline, func: Func) -> bool {
    let rdoms = pipeline.funcs[func].updates.iter().filter_map(|update| update.rdom);
    let conditions = rdoms.flat_map(|rdom| pipeline.rdoms[rdom].predicates.iter().copied());
    let all = Walker::once(pipeline, conditions);
    all.iter()
        .any(|&e| matches!(pipeline.exprs[e].kind, ExprKind::Call(callee, ..) if callee == func))
}

/// Makes Funcs of all runs of updates but the last, which stays with the Func.
fn split_off((pipeline, bounds): &mut (Pipeline, Bounds), func: Func, runs: &[usize]) -> Vec<Func> {
    let all = pipeline.funcs[func].clone();
    let of_all = bounds.funcs[func].clone().expect("it is needed");
    let ends = runs[1..].iter().copied().chain([all.updates.len()]);
    let mut made: Vec<Func> = Vec::new();
    for (&first, end) in runs.iter().zip(ends) {
        let is_last = end == all.updates.len();
        let this = if is_last {
            func
        } else {
            let name = format!("{}.after{}", all.name, end - 1);
            let begun = FuncData { name, schedule: Schedule::default(), ..all.clone() };
            pipeline.funcs.push(begun)
        };
        let mut stages = of_all.stages.clone();
        if let Some(&before) = made.last() {
            let loops = StageLoops { dims: of_all.region.clone(), rvars: vec![] };
            stages[0] = Some(loops);
            let span = all.updates[first - 1].span;
            let values = (0..all.types.len()).map(|v| at_point(pipeline, before, v, span));
            pipeline.funcs[this].pure = Some(Definition { values: values.collect(), span });
        }
        for (k, update) in all.updates.iter().enumerate() {
            let update = if (first..end).contains(&k) {
                calling(pipeline, update, (func, this))
            } else {
                stages[k + 1] = None;
                unchanged(pipeline, update, this)
            };
            pipeline.funcs[this].updates[k] = update;
        }
        bounds.funcs[this] = Some(FuncBounds { region: of_all.region.clone(), stages });
        made.push(this);
    }
    made.pop();
    made
}

/// The point that a Func is computed at.
pub(super) fn dims(pipeline: &mut Pipeline, func: Func, span: Span) -> Vec<Expr> {
    let count = pipeline.funcs[func].vars.len() as u32;
    (0..count).map(|d| pipeline.expr(ExprKind::Dim(d), ElementType::I32, span)).collect()
}

/// A value of a Func at the point.
pub(super) fn at_point(pipeline: &mut Pipeline, func: Func, value: usize, span: Span) -> Expr {
    let args = dims(pipeline, func, span);
    let ty = pipeline.funcs[func].types[value];
    pipeline.expr(ExprKind::Call(func, value as u32, args), ty, span)
}

/// In place of an update that another Func makes: every element stays as it is.
pub(super) fn unchanged(pipeline: &mut Pipeline, update: &Update, func: Func) -> Update {
    let span = update.span;
    let values = (0..update.values.len()).map(|v| at_point(pipeline, func, v, span)).collect();
    let args = dims(pipeline, func, span);
    Update { args, values, rdom: None, schedule: Schedule::default(), span }
}

/// An update with calls of one Func made calls of another.
pub(super) fn calling(
    pipeline: &mut Pipeline,
    update: &Update,
    (from, to): (Func, Func),
) -> Update {
    let roots: Vec<Expr> = update.args.iter().chain(&update.values).copied().collect();
    let new = pipeline.rewritten(roots, |_, _, kind, _| match kind {
        ExprKind::Call(func, value, args) if func == from => ExprKind::Call(to, value, args),
        kind => kind,
    });
    let renamed = |list: &[Expr]| list.iter().map(|e| new[e]).collect();
    Update { args: renamed(&update.args), values: renamed(&update.values), ..update.clone() }
}
