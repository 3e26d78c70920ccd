//! The value of an expression that loop counters decide on.

use crate::bounds::AffineVar;
use crate::scalar::{self, literal_word};
use crate::{Expr, ExprKind, Pipeline};

/// The word that an expression is, given those of its operands and of loop counters.
///
/// # Panics
/// If more than that decides on it: an element of an image, a parameter, an extent.
pub fn word_of(
    pipeline: &Pipeline,
    expr: Expr,
    of: impl Fn(&Expr) -> u32,
    counter: impl Fn(AffineVar) -> u32,
) -> u32 {
    let data = &pipeline.exprs[expr];
    let ty = |e: &Expr| pipeline.ty(*e);
    match &data.kind {
        ExprKind::Literal(literal) => literal_word(data.ty, *literal),
        ExprKind::Dim(n) => counter(AffineVar::Dim(*n)),
        ExprKind::RVar(rdom, n) => counter(AffineVar::RVar(*rdom, *n)),
        ExprKind::Unary(op, a) => scalar::unary(*op, data.ty, ty(a), of(a)),
        ExprKind::Binary(op, a, b) => scalar::binary(*op, data.ty, ty(b), of(a), of(b)),
        ExprKind::Compare(op, a, b) => u32::from(scalar::compare(*op, ty(a), of(a), of(b))),
        ExprKind::Select(c, a, b) => of(if of(c) != 0 { a } else { b }),
        ExprKind::Cast(a) => scalar::cast(data.ty, ty(a), of(a)),
        ExprKind::Reinterpret(a) => scalar::normalize(data.ty, of(a)),
        ExprKind::Intrinsic(op, args) => {
            let [a, b] = [0, 1].map(|n| args.get(n).map_or(0.0, |e| f32::from_bits(of(e))));
            scalar::intrinsic(*op, a, b).to_bits()
        }
        other => panic!("{other:?} is decided by more than loop counters"),
    }
}
