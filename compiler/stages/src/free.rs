//! Variables of domains that are dimensions: `f(r.x, r.y) += f(r.x - 1, r.y)` does the same for each `r.y` by
//! itself, as `f(r.x, y) += f(r.x - 1, y)` does, whose dimension `y` nothing has to go through in order.

use crate::bounds::Bounds;
use crate::{Expr, ExprKind, Func, Pipeline, RDom, RDomData, Update, Walker};

/// A variable of a domain in the place of which a dimension stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// The Func that is updated.
    pub func: Func,
    /// The number of the update.
    pub update: usize,
    /// The dimension.
    pub dim: usize,
}

/// A copy of a pipeline in which updates name dimensions instead of variables of their domains wherever that
/// is the same, and where it does: a variable stands at one place on the left side, the update reads its
/// Func only there, no condition of the domain is about it, and it reaches all of the region that is needed.
/// Updates with a schedule, which may name the variable's loop, stay as they are.
pub fn free_variables(pipeline: &Pipeline, bounds: &Bounds) -> (Pipeline, Vec<Freed>) {
    let mut freed = pipeline.clone();
    let mut done = Vec::new();
    for func in pipeline.funcs.keys() {
        let Some(region) = bounds.region(func) else { continue };
        for k in 0..pipeline.funcs[func].updates.len() {
            while let Some((dim, variable)) = free_variable(&freed, func, k, &|dim, min, max| {
                min <= i64::from(region[dim].min) && i64::from(region[dim].max) <= max
            }) {
                replace(&mut freed, func, k, dim, variable);
                done.push(Freed { func, update: k, dim });
            }
        }
    }
    (freed, done)
}

/// A dimension of an update that a variable of its domain stands for, and that variable. `covers` says
/// whether a dimension's coordinates from one number to another are all that are needed.
fn free_variable(
    pipeline: &Pipeline,
    func: Func,
    k: usize,
    covers: &dyn Fn(usize, i64, i64) -> bool,
) -> Option<(usize, u32)> {
    let update = &pipeline.funcs[func].updates[k];
    let rdom = update.rdom?;
    let RDomData { dims, predicates, .. } = &pipeline.rdoms[rdom];
    if !update.schedule.directives.is_empty() || dims.len() == 1 && !predicates.is_empty() {
        return None;
    }
    let conditions = Walker::once(pipeline, predicates.iter().copied());
    let all = Walker::once(pipeline, update.roots(pipeline));
    (0..update.args.len()).find_map(|dim| {
        let ExprKind::RVar(_, variable) = pipeline.exprs[update.args[dim]].kind else {
            return None;
        };
        let is_it = |&expr: &Expr| pipeline.exprs[expr].kind == ExprKind::RVar(rdom, variable);
        let reads_there = |expr: &Expr| match &pipeline.exprs[*expr].kind {
            ExprKind::Call(callee, _, args) => *callee != func || is_it(&args[dim]),
            _ => true,
        };
        let (min, extent) = dims[variable as usize];
        let (min, extent) = (pipeline.integer(min)?, pipeline.integer(extent)?);
        let is_free = update.args.iter().filter(|arg| is_it(arg)).count() == 1
            && !conditions.iter().any(is_it)
            && all.iter().all(reads_there)
            && covers(dim, min, min + extent - 1);
        is_free.then_some((dim, variable))
    })
}

/// Puts a dimension in the place of a variable of an update's domain.
fn replace(pipeline: &mut Pipeline, func: Func, k: usize, dim: usize, variable: u32) {
    let update = pipeline.funcs[func].updates[k].clone();
    let before = update.rdom.expect("it has a variable");
    let mut data = pipeline.rdoms[before].clone();
    data.dims.remove(variable as usize);
    let predicates = data.predicates.clone();
    let left = (!data.dims.is_empty()).then(|| pipeline.rdoms.push(data));
    let renamed = |rdom: RDom, n: u32| match n.cmp(&variable) {
        std::cmp::Ordering::Equal => ExprKind::Dim(dim as u32),
        order => ExprKind::RVar(left.unwrap_or(rdom), n - u32::from(order.is_gt())),
    };
    let new =
        pipeline.rewritten(
            update.roots(pipeline).collect::<Vec<_>>(),
            |_, _, kind, _| match kind {
                ExprKind::RVar(rdom, n) if rdom == before => renamed(rdom, n),
                kind => kind,
            },
        );
    let all = |list: &[Expr]| list.iter().map(|e| new[e]).collect();
    if let Some(left) = left {
        pipeline.rdoms[left].predicates = all(&predicates);
    }
    let (args, values) = (all(&update.args), all(&update.values));
    pipeline.funcs[func].updates[k] = Update { args, values, rdom: left, ..update };
}
