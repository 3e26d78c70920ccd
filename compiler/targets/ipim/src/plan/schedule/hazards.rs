//! Directives on loops over reduction variables that would change the result: rounds in parallel
//! or in vectors where one needs what another writes, and orders other than that of the domain.
//!
//! Only what is certain is refused. Kernels run reductions in the order of their domain whatever a
//! schedule says, so a directive that merely cannot be proven harmless changes nothing.

use nbcc_base::{Diagnostic, Diagnostics};
use nbcc_stages::bounds::{Affine, AffineVar, IndexForm, affine_of};
use nbcc_stages::{Directive, DirectiveKind, Expr, ExprKind, Func, Pipeline, RDom, Walker};

use super::super::Stage;
use super::loops::{Axis, Loop, each_directive, find};
use super::stages::{schedules, shown, stage_name};
use crate::codes;

/// Checks the updates of every Func.
pub fn check(pipeline: &Pipeline, found: &mut Diagnostics) {
    for func in pipeline.funcs.keys() {
        for (stage, schedule) in schedules(pipeline, func) {
            let Stage::Update(k) = stage else { continue };
            let Some(rdom) = pipeline.funcs[func].updates[k].rdom else { continue };
            if schedule.directives.is_empty() {
                continue;
            }
            let update = Hazards::of(pipeline, func, k, rdom);
            each_directive(pipeline, func, stage, |loops, directive| {
                if let Some(fault) = update.fault(loops, directive) {
                    found.push(fault);
                }
            });
        }
    }
}

struct Hazards<'a> {
    pipeline: &'a Pipeline,
    func: Func,
    k: usize,
    rdom: RDom,
    /// For each reduction variable whether rounds certainly depend on each other.
    carried: Vec<bool>,
    /// Whether the update certainly is no reduction: it reads other elements of its own Func.
    scan: bool,
}

impl<'a> Hazards<'a> {
    fn of(pipeline: &'a Pipeline, func: Func, k: usize, rdom: RDom) -> Hazards<'a> {
        let update = &pipeline.funcs[func].updates[k];
        let mut walker = Walker::default();
        let own_calls: Vec<&Vec<Expr>> = walker
            .reachable(pipeline, update.roots(pipeline))
            .into_iter()
            .filter_map(|e| match &pipeline.exprs[e].kind {
                ExprKind::Call(callee, _, args) if *callee == func => Some(args),
                _ => None,
            })
            .collect();
        let affine = |e: Expr| match affine_of(pipeline, e) {
            Some(IndexForm::Affine(affine)) => Some(affine),
            _ => None,
        };
        let left: Vec<Option<Affine>> = update.args.iter().map(|&a| affine(a)).collect();
        let own: Vec<Vec<Option<Affine>>> =
            own_calls.iter().map(|args| args.iter().map(|&a| affine(a)).collect()).collect();
        let written = walker.reachable(pipeline, update.args.iter().copied());
        let computed = walker.reachable(pipeline, update.values.iter().copied());
        let names = |list: &[Expr], n: u32| {
            list.iter().any(|&e| pipeline.exprs[e].kind == ExprKind::RVar(rdom, n))
        };
        let only = |affine: &Affine, n: u32| {
            affine.terms.len() == 1 && affine.terms.contains_key(&AffineVar::RVar(rdom, n))
        };
        let carried = (0..pipeline.rdoms[rdom].dims.len() as u32).map(|n| {
            if !names(&written, n) {
                // Every round writes the same elements, and not the same values.
                return !own.is_empty() || names(&computed, n);
            }
            own.iter().any(|call| {
                call.iter().zip(&left).any(|(call, left)| match (call, left) {
                    (Some(call), Some(left)) => {
                        only(left, n) && call.terms == left.terms && call.constant != left.constant
                    }
                    _ => false,
                })
            })
        });
        let carried = carried.collect();
        let scan = own.iter().any(|call| {
            call.iter().zip(&left).any(|(call, left)| match (call, left) {
                (Some(call), Some(left)) => call != left,
                _ => false,
            })
        });
        Hazards { pipeline, func, k, rdom, carried, scan }
    }

    /// The reduction variables of a loop whose rounds depend on each other.
    fn carried(&self, l: &Loop) -> Vec<u32> {
        let all = l.axes.iter().filter_map(|axis| match axis {
            Axis::RVar(n) if self.carried[*n as usize] => Some(*n),
            _ => None,
        });
        all.collect()
    }

    fn fault(&self, loops: &[Loop], directive: &Directive) -> Option<Diagnostic> {
        let what = stage_name(self.pipeline, self.func, Stage::Update(self.k));
        let (word, var) = match &directive.kind {
            DirectiveKind::Parallel(var) => ("in parallel", var),
            DirectiveKind::Vectorize { var, .. } => ("in vectors", var),
            DirectiveKind::Reorder(order) => return self.reordered(loops, order, directive, &what),
            _ => return None,
        };
        let l = &loops[find(loops, var)?];
        let n = *self.carried(l).first()?;
        let rvar =
            format!("{}.{}", self.pipeline.rdoms[self.rdom].name, ["x", "y", "z", "w"][n as usize]);
        let data = &self.pipeline.funcs[self.func];
        let help = match self.scan {
            true => "leave it out: its rounds run in order".to_string(),
            false => format!(
                "leave it out, or split the reduction: `{}.update({}).rfactor({rvar}, v)`",
                data.name, self.k
            ),
        };
        Some(
            Diagnostic::error(
                &codes::CARRIED,
                format!("loop `{}` of {what} cannot run {word}", shown(var)),
            )
            .at(directive.span, "its rounds depend on each other")
            .and(
                data.updates[self.k].span,
                format!("reads what an earlier round of `{rvar}` wrote"),
            )
            .help(help),
        )
    }

    /// An error where two loops change places and the order of both matters.
    fn reordered(
        &self,
        loops: &[Loop],
        order: &[String],
        directive: &Directive,
        what: &str,
    ) -> Option<Diagnostic> {
        if !self.scan {
            return None;
        }
        let places: Vec<usize> = order.iter().filter_map(|o| find(loops, o)).collect();
        let swapped = places.iter().enumerate().find_map(|(i, &a)| {
            let later = places[i + 1..].iter().find(|&&b| {
                let (x, y) = (self.carried(&loops[a]), self.carried(&loops[b]));
                b < a && !x.is_empty() && !y.is_empty()
            });
            later.map(|&b| (a, b))
        });
        let (a, b) = swapped?;
        let data = &self.pipeline.funcs[self.func];
        Some(
            Diagnostic::error(
                &codes::REORDERED,
                format!(
                    "loops `{}` and `{}` of {what} cannot change places",
                    shown(&loops[b].name),
                    shown(&loops[a].name)
                ),
            )
            .at(directive.span, "changes the result")
            .and(data.updates[self.k].span, "reads what earlier rounds of both wrote")
            .help("leave them in the order of the domain, the first variable innermost"),
        )
    }
}
