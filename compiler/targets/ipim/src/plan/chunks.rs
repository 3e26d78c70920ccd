//! Updates over domains of which a scratchpad does not hold what a tile reads: the domain goes in chunks of its
//! last variable (strip mining), each a Func of its own that begins with the values of the one before. Points
//! of the domain come in the same order, so that any update that keeps to its own point stays what it is.

use nbcc_stages::bounds::{Bounds, FuncBounds, Interval, StageLoops};
use nbcc_stages::{
    Definition, ElementType, Expr, ExprKind, Func, FuncData, Literal, Pipeline, Schedule, Update,
    Walker, are_loops_named,
};

use super::access::accesses;
use super::copies::{Follows, follows};
use super::modes::in_place;
use super::split::{at_point, calling, unchanged};
use super::{Finding, FindingKind, Plan, Stage, Step};

/// The most chunks of an update: each is a kernel.
const MAX_CHUNKS: u32 = 32;

/// An update that is worth trying in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divisible {
    func: Func,
    update: usize,
    /// The values of the last variable of its domain.
    last: Interval,
}

/// Updates of a plan that read copies at places which move with the tile and with the last variable of their
/// domain, since windows do not hold what it runs over.
pub(super) fn divisible(plan: &Plan, pipeline: &Pipeline) -> Vec<Divisible> {
    let of_step = |step: &Step| {
        let Step::Tiles(step) = step else { return None };
        let (Stage::Update(update), func) = (step.stage, step.func) else { return None };
        let (rdom, domain) = step.nest.rdom.as_ref()?;
        let (&last, n) = (domain.last()?, domain.len() as u32 - 1);
        let runs_along = |args: &[Expr]| {
            let found = Walker::once(&plan.pipeline, args.iter().copied());
            found.iter().any(|&e| plan.pipeline.exprs[e].kind == ExprKind::RVar(*rdom, n))
        };
        let copied = accesses(&plan.pipeline, func, step.stage).into_iter().any(|access| {
            let moves =
                access.args.iter().any(|&arg| follows(&plan.pipeline, arg) != Follows::Neither);
            step.nest.copy_of.contains_key(&access.expr) && moves && runs_along(&access.args)
        });
        let known = pipeline.funcs.is_valid(func) && keeps_to_itself(pipeline, func, update);
        (copied && known && last.extent() > 1).then_some(Divisible { func, update, last })
    };
    plan.steps.iter().filter_map(of_step).collect()
}

/// Whether an update can be made in chunks: it reads its Func at its own point only, over a domain without
/// conditions.
fn keeps_to_itself(pipeline: &Pipeline, func: Func, k: usize) -> bool {
    let data = &pipeline.funcs[func];
    let Some(rdom) = data.updates[k].rdom else { return false };
    data.pure.is_some()
        && pipeline.rdoms[rdom].predicates.is_empty()
        && in_place(pipeline, func, k)
        && !are_loops_named(pipeline, func)
}

/// How many points of their last variable updates may go through at a time, most first: halves of all, then
/// halves of that, as long as chunks are few.
pub(super) fn lengths(of: &[Divisible]) -> Vec<u32> {
    let longest = of.iter().map(|one| one.last.extent()).max().unwrap_or(1);
    let halves = std::iter::successors(Some(longest), |n| Some(n.div_ceil(2))).skip(1);
    let few = |n: &u32| longest.div_ceil(*n) <= MAX_CHUNKS;
    let mut all: Vec<u32> = halves.take_while(few).take(longest.ilog2() as usize).collect();
    all.dedup();
    all
}

/// The pipeline with updates in chunks of at most so many points of their last variable, its bounds, and what
/// was done.
pub(super) fn in_chunks(
    pipeline: &Pipeline,
    bounds: &Bounds,
    of: &[Divisible],
    length: u32,
) -> (Pipeline, Bounds, Vec<Finding>) {
    let (mut pipeline, mut bounds, mut findings) = (pipeline.clone(), bounds.clone(), vec![]);
    bounds.order = bounds.needed(&pipeline).map(|(func, _)| func).collect();
    for one in of.iter().filter(|one| one.last.extent() > length) {
        let data = &pipeline.funcs[one.func];
        let kind = FindingKind::InChunks { all: one.last.extent(), length };
        findings.push(Finding { about: data.name.clone(), span: Some(data.span), kind });
        let made = divide(&mut pipeline, &mut bounds, one, length);
        let at = bounds.order.iter().position(|&func| func == one.func);
        let at = at.expect("it is computed");
        bounds.order.splice(at..at, made);
    }
    (pipeline, bounds, findings)
}

/// Makes Funcs of all chunks of an update but the last, which stays with the Func.
fn divide(pipeline: &mut Pipeline, bounds: &mut Bounds, one: &Divisible, length: u32) -> Vec<Func> {
    let &Divisible { func, update: k, last } = one;
    let all = pipeline.funcs[func].clone();
    let of_all = bounds.funcs[func].clone().expect("it is computed");
    let whole = StageLoops { dims: of_all.region.clone(), rvars: vec![] };
    let update = &all.updates[k];
    let span = update.span;
    let chunks = last.extent().div_ceil(length);
    let mut made: Vec<Func> = Vec::new();
    for chunk in 0..chunks {
        let this = if chunk + 1 == chunks {
            func
        } else {
            let name = format!("{}.chunk{}", all.name, made.len());
            pipeline.funcs.push(FuncData { name, schedule: Schedule::default(), ..all.clone() })
        };
        let mut stages = of_all.stages.clone();
        if let Some(&before) = made.last() {
            stages[0] = Some(whole.clone());
            let values =
                (0..all.types.len()).map(|v| at_point(pipeline, before, v, span)).collect();
            pipeline.funcs[this].pure = Some(Definition { values, span });
        }
        for (number, update) in all.updates.iter().enumerate() {
            // What comes before is done with the first chunk, what comes after with the last.
            let stays =
                number == k || number < k && chunk == 0 || number > k && chunk + 1 == chunks;
            let mut update = match stays {
                true => calling(pipeline, update, (func, this)),
                false => unchanged(pipeline, update, this),
            };
            if number == k {
                let first = last.min + (chunk * length) as i32;
                let extent = length.min(last.extent() - chunk * length);
                update = over(pipeline, &update, Interval::from_extent(first, extent));
                if let Some(loops) = &mut stages[k + 1]
                    && let Some(rvar) = loops.rvars.last_mut()
                {
                    *rvar = Interval::from_extent(first, extent);
                }
            } else if !stays {
                stages[number + 1] = None;
            }
            pipeline.funcs[this].updates[number] = update;
        }
        bounds.funcs[this] = Some(FuncBounds { region: of_all.region.clone(), stages });
        made.push(this);
    }
    made.pop();
    made
}

/// An update over a part of its domain: these values of its last variable.
fn over(pipeline: &mut Pipeline, update: &Update, part: Interval) -> Update {
    let before = update.rdom.expect("it has a domain");
    let mut domain = pipeline.rdoms[before].clone();
    let mut number = |n: i32| {
        let kind = ExprKind::Literal(Literal::Int(n.into()));
        pipeline.expr(kind, ElementType::I32, update.span)
    };
    let dims = [part.min, part.extent() as i32].map(&mut number);
    *domain.dims.last_mut().expect("it has variables") = dims.into();
    let rdom = pipeline.rdoms.push(domain);
    let new = pipeline.rewritten(update.values.clone(), |_, _, kind, _| match kind {
        ExprKind::RVar(of, n) if of == before => ExprKind::RVar(rdom, n),
        kind => kind,
    });
    let values = update.values.iter().map(|value| new[value]).collect();
    Update { values, rdom: Some(rdom), ..update.clone() }
}
