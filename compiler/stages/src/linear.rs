//! Coordinates that are one variable of a domain, times a number and a number more.

use crate::{BinaryOp, Expr, ExprKind, Literal, Pipeline, RDom};

/// No number of such a coordinate exceeds this, so that none overflows.
pub(crate) const MOST: i64 = 1 << 28;

/// A coordinate: `factor`, which is not zero, times a variable of a domain, plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The number of the variable in its domain.
    pub variable: u32,
    /// What it is multiplied by.
    pub factor: i64,
    /// What is added.
    pub offset: i64,
}

impl Linear {
    /// The form of a coordinate in variables of `rdom`, if it has one.
    pub fn of(pipeline: &Pipeline, rdom: RDom, arg: Expr) -> Option<Linear> {
        let number = |expr: Expr| match pipeline.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(n)) => Some(n),
            _ => None,
        };
        let found = match pipeline.exprs[arg].kind {
            ExprKind::RVar(r, variable) if r == rdom => Linear { variable, factor: 1, offset: 0 },
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (number(a), number(b));
                let of = Linear::of(pipeline, rdom, if left.is_some() { b } else { a })?;
                let n = left.or(right)?;
                match op {
                    BinaryOp::Add => Linear { offset: of.offset + n, ..of },
                    BinaryOp::Sub if left.is_some() => {
                        Linear { factor: -of.factor, offset: n - of.offset, ..of }
                    }
                    BinaryOp::Sub => Linear { offset: of.offset - n, ..of },
                    BinaryOp::Mul => {
                        let product = |value: i64| value.checked_mul(n);
                        Linear { factor: product(of.factor)?, offset: product(of.offset)?, ..of }
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        let is_small = [found.factor, found.offset].iter().all(|n| n.abs() <= MOST);
        (is_small && found.factor != 0).then_some(found)
    }
}
