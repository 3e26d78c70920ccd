//! Building expressions once: hash-consing with constant folding.
//!
//! Only identities that hold bit for bit are applied. Floats are folded where every operand is a
//! literal, and otherwise left alone.

use cranelift_entity::SecondaryMap;
use foldhash::HashMap;
use nbcc_base::Span;

use crate::bounds::ParamValues;
use crate::scalar::{self, literal_word, word_literal};
use crate::{
    BinaryOp, DirectiveKind, ElementType, Expr, ExprData, ExprKind, Func, Input, Literal, Pipeline,
};

/// Makes expressions of one pipeline, each only once.
#[derive(Debug, Default)]
pub struct Simplifier {
    made: HashMap<(ExprKind, ElementType), Expr>,
}

impl Simplifier {
    /// The expression `kind` of type `ty`, simplified. Its operands are in the pipeline.
    pub fn make(
        &mut self,
        pipeline: &mut Pipeline,
        kind: ExprKind,
        ty: ElementType,
        span: Span,
    ) -> Expr {
        let kind = match fold(pipeline, &kind, ty) {
            Some(Folded::Literal(word)) => ExprKind::Literal(word_literal(ty, word)),
            Some(Folded::Operand(expr)) => return expr,
            Some(Folded::Offset(base, offset)) => {
                let op = if offset < 0 { BinaryOp::Sub } else { BinaryOp::Add };
                let literal = ExprKind::Literal(Literal::Int(offset.abs()));
                let literal = self.intern(pipeline, literal, ty, span);
                ExprKind::Binary(op, base, literal)
            }
            None => kind,
        };
        self.intern(pipeline, kind, ty, span)
    }

    fn intern(
        &mut self,
        pipeline: &mut Pipeline,
        kind: ExprKind,
        ty: ElementType,
        span: Span,
    ) -> Expr {
        let exprs = &mut pipeline.exprs;
        *self.made.entry((kind, ty)).or_insert_with_key(|(kind, ty)| {
            exprs.push(ExprData { kind: kind.clone(), ty: *ty, span })
        })
    }
}

/// What an expression amounts to.
enum Folded {
    /// This word.
    Literal(u32),
    /// This operand.
    Operand(Expr),
    /// This `I32` operand plus a number other than zero or `i32::MIN`.
    Offset(Expr, i64),
}

fn fold(pipeline: &Pipeline, kind: &ExprKind, ty: ElementType) -> Option<Folded> {
    let word = |e: Expr| match pipeline.exprs[e].kind {
        ExprKind::Literal(literal) => Some(literal_word(pipeline.ty(e), literal)),
        _ => None,
    };
    let literal = |word| Some(Folded::Literal(word));
    match kind {
        ExprKind::Unary(op, a) => literal(scalar::unary(*op, ty, pipeline.ty(*a), word(*a)?)),
        ExprKind::Cast(a) | ExprKind::Reinterpret(a) if pipeline.ty(*a) == ty => {
            Some(Folded::Operand(*a))
        }
        ExprKind::Cast(a) => literal(scalar::cast(ty, pipeline.ty(*a), word(*a)?)),
        ExprKind::Compare(op, a, b) => {
            literal(scalar::compare(*op, pipeline.ty(*a), word(*a)?, word(*b)?).into())
        }
        ExprKind::Select(condition, a, b) => match word(*condition) {
            Some(0) => Some(Folded::Operand(*b)),
            Some(_) => Some(Folded::Operand(*a)),
            None if a == b => Some(Folded::Operand(*a)),
            None => None,
        },
        ExprKind::Binary(op, a, b) => match (word(*a), word(*b)) {
            (Some(x), Some(y)) => literal(scalar::binary(*op, ty, pipeline.ty(*b), x, y)),
            (x, y) if !ty.is_float() => identity(pipeline, *op, ty, (*a, x), (*b, y)),
            _ => None,
        },
        _ => None,
    }
}

/// Identities of integer operations of which at most one operand is a literal.
fn identity(
    pipeline: &Pipeline,
    op: BinaryOp,
    ty: ElementType,
    (a, x): (Expr, Option<u32>),
    (b, y): (Expr, Option<u32>),
) -> Option<Folded> {
    match (op, x, y) {
        (BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor, Some(0), _) => Some(Folded::Operand(b)),
        (
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr,
            _,
            Some(0),
        ) => Some(Folded::Operand(a)),
        (BinaryOp::Mul, Some(1), _) => Some(Folded::Operand(b)),
        (BinaryOp::Mul | BinaryOp::Div, _, Some(1)) => Some(Folded::Operand(a)),
        (BinaryOp::Mul | BinaryOp::And, Some(0), _)
        | (BinaryOp::Mul | BinaryOp::And, _, Some(0)) => Some(Folded::Literal(0)),
        (BinaryOp::Min | BinaryOp::Max | BinaryOp::And | BinaryOp::Or, None, None) if a == b => {
            Some(Folded::Operand(a))
        }
        (BinaryOp::Add | BinaryOp::Sub, _, _) if ty == ElementType::I32 => {
            offset(pipeline, op, (a, x), (b, y))
        }
        _ => None,
    }
}

/// `(base + c) + d` as `base + (c + d)`, also where one or both are subtracted.
fn offset(
    pipeline: &Pipeline,
    op: BinaryOp,
    (a, x): (Expr, Option<u32>),
    (b, y): (Expr, Option<u32>),
) -> Option<Folded> {
    let (base, added) = match (op, x, y) {
        (BinaryOp::Add, Some(x), None) => (b, x as i32),
        (BinaryOp::Add, None, Some(y)) => (a, y as i32),
        (_, None, Some(y)) => (a, (y as i32).wrapping_neg()),
        _ => return None,
    };
    let ExprKind::Binary(inner @ (BinaryOp::Add | BinaryOp::Sub), core, c) =
        pipeline.exprs[base].kind
    else {
        return None;
    };
    let ExprKind::Literal(Literal::Int(c)) = pipeline.exprs[c].kind else { return None };
    let c = if inner == BinaryOp::Add { c as i32 } else { (c as i32).wrapping_neg() };
    match c.wrapping_add(added) {
        0 => Some(Folded::Operand(core)),
        i32::MIN => None,
        sum => Some(Folded::Offset(core, sum.into())),
    }
}

/// A copy of a pipeline in which every expression stands once, extents of inputs and the
/// parameters that have a value are literals, and constants are folded. Entities keep their
/// numbers, except expressions.
pub fn specialize(
    pipeline: &Pipeline,
    extents: &SecondaryMap<Input, Vec<u32>>,
    params: &ParamValues,
) -> Pipeline {
    let mut result = Pipeline { exprs: Default::default(), ..pipeline.clone() };
    let mut simplifier = Simplifier::default();
    let mut new: SecondaryMap<Expr, Expr> = SecondaryMap::with_default(Expr::from_u32(0));
    for (expr, data) in &pipeline.exprs {
        let int = |value: u32| ExprKind::Literal(Literal::Int(value.into()));
        let kind = match &data.kind {
            ExprKind::InputExtent(input, d) => match extents[*input].get(*d as usize) {
                Some(&extent) => int(extent),
                None => data.kind.clone(),
            },
            ExprKind::Param(param) => match params[*param] {
                Some(word) => ExprKind::Literal(word_literal(data.ty, word)),
                None => data.kind.clone(),
            },
            kind => kind.map_operands(|operand| new[operand]),
        };
        new[expr] = simplifier.make(&mut result, kind, data.ty, data.span);
    }
    rewrite_roots(&mut result, |_, expr| new[expr]);
    result
}

/// Replaces every expression that a pipeline holds outside its arena. `map` is told the Func whose
/// stages evaluate it; none for what reduction domains and directives hold.
pub(crate) fn rewrite_roots(
    pipeline: &mut Pipeline,
    mut map: impl FnMut(Option<Func>, Expr) -> Expr,
) {
    for rdom in pipeline.rdoms.values_mut() {
        for (min, extent) in &mut rdom.dims {
            (*min, *extent) = (map(None, *min), map(None, *extent));
        }
        rdom.predicates.iter_mut().for_each(|e| *e = map(None, *e));
    }
    for (id, func) in &mut pipeline.funcs {
        let pure = func.pure.iter_mut().flat_map(|d| &mut d.values);
        let updates = func.updates.iter_mut().flat_map(|u| u.args.iter_mut().chain(&mut u.values));
        pure.chain(updates).for_each(|e| *e = map(Some(id), *e));
        let updates = func.updates.iter_mut().map(|u| &mut u.schedule);
        for schedule in updates.chain([&mut func.schedule]) {
            for directive in &mut schedule.directives {
                if let DirectiveKind::Bound { min, extent, .. }
                | DirectiveKind::SetEstimate { min, extent, .. } = &mut directive.kind
                {
                    (*min, *extent) = (map(None, *min), map(None, *extent));
                }
            }
        }
    }
}
