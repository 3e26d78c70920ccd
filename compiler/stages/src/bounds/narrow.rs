//! What a condition says of the variables in it.

use crate::{CompareOp, ElementType, Expr, ExprKind, Pipeline};

use super::affine::AffineVar;
use super::env::Env;
use super::forms::{Form, Term};
use super::interval::Interval;
use super::values::Values;

/// Narrows the intervals of the variables of a linear comparison that holds, or does not. They
/// become empty where that cannot be. Other conditions say nothing.
pub(super) fn narrow(
    pipeline: &Pipeline,
    condition: Expr,
    holds: bool,
    values: &Values,
    env: &mut Env,
) {
    let ExprKind::Compare(op, a, b) = pipeline.exprs[condition].kind else { return };
    let op = match op {
        op if holds => op,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    };
    if pipeline.ty(a) != ElementType::I32 {
        return;
    }
    let (Some(a), Some(b)) = (values.form(a), values.form(b)) else { return };
    // A side that can wrap says nothing.
    if values.form_range(a, env).is_none() || values.form_range(b, env).is_none() {
        return;
    }
    let (Some(less), Some(more)) = (a.combine(1, b, -1), b.combine(1, a, -1)) else { return };
    match op {
        CompareOp::Lt => at_most(&less, -1, values, env),
        CompareOp::Le => at_most(&less, 0, values, env),
        CompareOp::Gt => at_most(&more, -1, values, env),
        CompareOp::Ge => at_most(&more, 0, values, env),
        CompareOp::Eq => {
            at_most(&less, 0, values, env);
            at_most(&more, 0, values, env);
        }
        CompareOp::Ne => {}
    }
}

/// Narrows the variables of `form` given that `form <= limit`.
fn at_most(form: &Form, limit: i128, values: &Values, env: &mut Env) {
    for (&term, &c) in &form.terms {
        let Term::Var(var) = term else { continue };
        let interval = env.interval(var);
        let (low, _) = form.range(|t| if t == term { (0, 0) } else { values.term(t, env) });
        let room = limit - low;
        let c = i128::from(c);
        let fit = |v: i128| v.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let narrowed = if c > 0 {
            Interval { min: interval.min, max: interval.max.min(fit(room.div_euclid(c))) }
        } else {
            // c * v <= room with c < 0: v >= room / c, rounded up.
            Interval { min: interval.min.max(fit(-(room.div_euclid(-c)))), max: interval.max }
        };
        match var {
            AffineVar::Dim(n) => {
                if let Some(slot) = env.dims.get_mut(n as usize) {
                    *slot = narrowed;
                }
            }
            AffineVar::RVar(rdom, n) => {
                env.rvars.insert((rdom, n), narrowed);
            }
        }
        if narrowed.is_empty() {
            return;
        }
    }
}
