//! Images with a constant around them: `select(x < 0 || x >= w, c, in(clamp(x, 0, w - 1)))`, as
//! `constant_exterior` writes it out, reads `in` where its border holds `c` (`plan/border.rs`). Nothing is
//! chosen at each point then.

use std::collections::BTreeMap;

use nbcc_stages::bounds::{Affine, IndexForm};
use nbcc_stages::scalar::literal_word;
use nbcc_stages::{BinaryOp, CompareOp, Expr, ExprKind, Func, Pipeline, UnaryOp, Walker};

use super::forms::Forms;

/// What an access means that stands for a choice between a constant and an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Padded {
    /// The word of the constant.
    pub word: u32,
    /// Beyond which limits of its coordinates it is read: the lower and the upper one, along x and y.
    pub sides: [[bool; 2]; 2],
}

/// Puts accesses in place of the choices of a Func's values. Each is a new one, which reads the element
/// at the limit where it lies beyond it: what it means is in the list.
pub(super) fn pad(pipeline: &mut Pipeline, forms: &Forms, func: Func) -> BTreeMap<Expr, Padded> {
    let data = &pipeline.funcs[func];
    let of_updates = data.updates.iter().flat_map(|update| &update.values);
    let values: Vec<Expr> =
        data.pure.iter().flat_map(|pure| &pure.values).chain(of_updates).copied().collect();
    let reachable = Walker::once(pipeline, values.iter().copied());
    let choices = reachable.into_iter().filter_map(|expr| {
        let found = Choice::of(pipeline, expr, func)?.padded(pipeline, forms)?;
        Some((expr, found))
    });
    let found: BTreeMap<Expr, Padded> = choices.collect();
    if found.is_empty() {
        return found;
    }
    let new = pipeline.rewritten(values, |pipeline, expr, kind, _| match kind {
        ExprKind::Select(_, a, b) if found.contains_key(&expr) => {
            let access = if is_access(pipeline, a) { a } else { b };
            pipeline.exprs[access].kind.clone()
        }
        kind => kind,
    });
    let rename = |list: &mut Vec<Expr>| list.iter_mut().for_each(|value| *value = new[&*value]);
    let data = &mut pipeline.funcs[func];
    data.pure.iter_mut().for_each(|pure| rename(&mut pure.values));
    data.updates.iter_mut().for_each(|update| rename(&mut update.values));
    found.into_iter().map(|(expr, padded)| (new[&expr], padded)).collect()
}

fn is_access(pipeline: &Pipeline, expr: Expr) -> bool {
    matches!(pipeline.exprs[expr].kind, ExprKind::Load(..) | ExprKind::Call(..))
}

/// A choice between a constant and an access.
struct Choice<'a> {
    condition: Expr,
    /// Whether the constant is chosen where the condition holds.
    outside: bool,
    word: u32,
    args: &'a [Expr],
}

impl Choice<'_> {
    fn of(pipeline: &Pipeline, expr: Expr, func: Func) -> Option<Choice<'_>> {
        let ExprKind::Select(condition, a, b) = pipeline.exprs[expr].kind else { return None };
        let outside = is_access(pipeline, b);
        let (constant, access) = if outside { (a, b) } else { (b, a) };
        let ExprKind::Literal(literal) = pipeline.exprs[constant].kind else { return None };
        let args = match &pipeline.exprs[access].kind {
            ExprKind::Load(_, args) => args,
            ExprKind::Call(of, _, args) if *of != func => args,
            _ => return None,
        };
        let word = literal_word(pipeline.exprs[constant].ty, literal);
        Some(Choice { condition, outside, word, args })
    }

    /// What the access alone would mean, if the condition says no more and no less than that it lies
    /// beyond limits of its coordinates.
    fn padded(&self, pipeline: &Pipeline, forms: &Forms) -> Option<Padded> {
        let mut sides = [[false; 2]; 2];
        let mut limits = Vec::new();
        for (k, arg) in self.args.iter().take(2).enumerate() {
            let Some(IndexForm::Clamp { of, low, high }) = &forms[*arg] else { continue };
            let of = of.as_affine()?;
            let below = of.combine(1, &Affine::constant(*low), -1)?;
            let above = of.combine(-1, &Affine::constant(*high), 1)?;
            limits.extend([(below, k, 0), (above, k, 1)]);
        }
        let mut negative = Vec::new();
        any_negative(pipeline, forms, self.condition, self.outside, &mut negative)?;
        for form in negative {
            let &(_, k, side) = limits.iter().find(|(of, ..)| *of == form)?;
            sides[k][side] = true;
        }
        Some(Padded { word: self.word, sides })
    }
}

/// Collects forms of which one is negative where, and only where, a condition holds (`true`), or does
/// not (`false`).
fn any_negative(
    pipeline: &Pipeline,
    forms: &Forms,
    condition: Expr,
    holds: bool,
    all: &mut Vec<Affine>,
) -> Option<()> {
    match pipeline.exprs[condition].kind {
        ExprKind::Unary(UnaryOp::Not, a) => any_negative(pipeline, forms, a, !holds, all),
        ExprKind::Binary(op, a, b) if op == if holds { BinaryOp::Or } else { BinaryOp::And } => {
            any_negative(pipeline, forms, a, holds, all)?;
            any_negative(pipeline, forms, b, holds, all)
        }
        ExprKind::Compare(op, a, b) => {
            let [a, b] = [a, b].map(|e| forms[e].as_ref().and_then(IndexForm::as_affine));
            let difference = |a: &Affine, b: &Affine, less: i64| {
                a.combine(1, b, -1)?.combine(1, &Affine::constant(less), -1)
            };
            let (a, b) = (a?, b?);
            all.push(match (op, holds) {
                (CompareOp::Lt, true) | (CompareOp::Ge, false) => difference(a, b, 0)?,
                (CompareOp::Le, true) | (CompareOp::Gt, false) => difference(a, b, 1)?,
                (CompareOp::Gt, true) | (CompareOp::Le, false) => difference(b, a, 0)?,
                (CompareOp::Ge, true) | (CompareOp::Lt, false) => difference(b, a, 1)?,
                _ => return None,
            });
            Some(())
        }
        _ => None,
    }
}
