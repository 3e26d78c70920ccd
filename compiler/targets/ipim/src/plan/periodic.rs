//! Indices along one dimension that repeat: `f(x + p) = f(x) + s` for a small period `p`, as
//! `x / 2 - 1 + 2 * (x % 2)` does with period 2 and step 1. An affine form has period 1.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_stages::{BinaryOp, ElementType, Expr, ExprKind, Literal, Pipeline, UnaryOp};
use num_integer::lcm;

/// No longer period is looked for.
const MAX_PERIOD: i64 = 16;
/// No larger expression is looked at.
const MAX_EXPRS: usize = 64;

/// A repeating function of one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// What a period adds.
    pub step: i64,
    /// The values over the first period.
    pub table: Vec<i64>,
}

impl Periodic {
    /// The value at `x`.
    pub fn at(&self, x: i64) -> i64 {
        let period = self.table.len() as i64;
        self.step * x.div_euclid(period) + self.table[x.rem_euclid(period) as usize]
    }

    fn constant(&self) -> Option<i64> {
        (self.step == 0 && self.table.len() == 1).then(|| self.table[0])
    }

    /// The same beyond the values that coordinates have.
    fn wide(&self, x: i64) -> i128 {
        let period = self.table.len() as i64;
        let rounds = i128::from(self.step) * i128::from(x.div_euclid(period));
        rounds + i128::from(self.table[x.rem_euclid(period) as usize])
    }

    /// The function `at` of that period; `None` where the period is too long, or where values are no
    /// 32-bit integers: they wrap around, and repeat otherwise.
    fn tabulate(period: i64, at: impl Fn(i64) -> i128) -> Option<Periodic> {
        if period > MAX_PERIOD {
            return None;
        }
        let word = |value: i128| i32::try_from(value).ok().map(i64::from);
        let table: Option<Vec<i64>> = (0..period).map(|x| word(at(x))).collect();
        Some(Periodic { step: word(at(period) - at(0))?, table: table? })
    }

    fn combine(&self, other: &Periodic, op: impl Fn(i128, i128) -> i128) -> Option<Periodic> {
        let period = lcm(self.table.len() as i64, other.table.len() as i64);
        Periodic::tabulate(period, |x| op(self.wide(x), other.wide(x)))
    }

    /// `op(self, m)` for a division or remainder by `m`: repeats once the values have gone on by a
    /// multiple of `m`.
    fn divide(&self, m: i64, op: impl Fn(i128, i128) -> i128) -> Option<Periodic> {
        let rounds = if self.step == 0 { 1 } else { lcm(self.step.abs(), m) / self.step.abs() };
        let period = self.table.len() as i64 * rounds;
        Periodic::tabulate(period, |x| op(self.wide(x), m.into()))
    }
}

/// Finds out whether an index is a repeating function of dimension `k` alone.
pub fn periodic(pipeline: &Pipeline, index: Expr, k: u32) -> Option<Periodic> {
    let mut reachable = BTreeSet::new();
    let mut stack = vec![index];
    while let Some(expr) = stack.pop() {
        let data = &pipeline.exprs[expr];
        if data.ty != ElementType::I32 || is_read(&data.kind) {
            return None;
        }
        if reachable.insert(expr) {
            data.kind.each_operand(|operand| stack.push(operand));
        }
        if reachable.len() > MAX_EXPRS {
            return None;
        }
    }
    let mut found: BTreeMap<Expr, Periodic> = BTreeMap::new();
    for expr in reachable {
        let value = one(pipeline, &found, expr, k)?;
        found.insert(expr, value);
    }
    found.remove(&index)
}

/// Whether a value comes from elsewhere, which nothing that repeats is made of.
fn is_read(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Load(..) | ExprKind::Call(..) | ExprKind::Intrinsic(..))
}

fn one(
    pipeline: &Pipeline,
    found: &BTreeMap<Expr, Periodic>,
    expr: Expr,
    k: u32,
) -> Option<Periodic> {
    let data = &pipeline.exprs[expr];
    if data.ty != ElementType::I32 {
        return None;
    }
    match &data.kind {
        ExprKind::Literal(Literal::Int(value)) => Periodic::tabulate(1, |_| i128::from(*value)),
        ExprKind::Dim(n) if *n == k => Some(Periodic { step: 1, table: vec![0] }),
        ExprKind::Unary(UnaryOp::Neg, a) => found[a].combine(&found[a], |a, _| -a),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (&found[a], &found[b]);
            match (op, b.constant()) {
                (BinaryOp::Add, _) => a.combine(b, |a, b| a + b),
                (BinaryOp::Sub, _) => a.combine(b, |a, b| a - b),
                (BinaryOp::Mul, Some(_)) => a.combine(b, |a, b| a * b),
                (BinaryOp::Mul, None) => {
                    let c = i128::from(a.constant()?);
                    b.combine(b, |b, _| b * c)
                }
                (BinaryOp::Div, Some(m)) if m > 0 => a.divide(m, i128::div_euclid),
                (BinaryOp::Mod, Some(m)) if m > 0 => a.divide(m, i128::rem_euclid),
                (BinaryOp::And, Some(m)) if m > 0 && (m + 1).count_ones() == 1 => {
                    a.divide(m + 1, i128::rem_euclid)
                }
                (BinaryOp::Shr, Some(n)) if (0..5).contains(&n) => {
                    a.divide(1 << n, i128::div_euclid)
                }
                (BinaryOp::Shl, Some(n)) if (0..5).contains(&n) => a.combine(b, |a, _| a << n),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use nbcc_base::Span;

    use super::*;

    #[test]
    fn repeats_as_the_expression_does() {
        let mut p = Pipeline::default();
        let mut make = |kind| p.expr(kind, ElementType::I32, Span::default());
        let x = make(ExprKind::Dim(0));
        let two = make(ExprKind::Literal(Literal::Int(2)));
        let three = make(ExprKind::Literal(Literal::Int(3)));
        let half = make(ExprKind::Binary(BinaryOp::Div, x, two));
        let odd = make(ExprKind::Binary(BinaryOp::Mod, x, two));
        let twice = make(ExprKind::Binary(BinaryOp::Mul, odd, three));
        let sum = make(ExprKind::Binary(BinaryOp::Sub, half, twice));
        let third = make(ExprKind::Binary(BinaryOp::Div, sum, three));
        for (expr, f) in [
            (sum, (|x: i64| x.div_euclid(2) - 3 * x.rem_euclid(2)) as fn(i64) -> i64),
            (third, |x: i64| (x.div_euclid(2) - 3 * x.rem_euclid(2)).div_euclid(3)),
        ] {
            let found = periodic(&p, expr, 0).expect("it repeats");
            for x in -40..40 {
                assert_eq!(found.at(x), f(x), "{x}");
            }
        }
        assert_eq!(periodic(&p, sum, 1), None);
    }

    /// What wraps around repeats otherwise than it says.
    #[test]
    fn values_beyond_a_word_do_not_repeat() {
        let mut p = Pipeline::default();
        let mut make = |kind| p.expr(kind, ElementType::I32, Span::default());
        let x = make(ExprKind::Dim(0));
        let large = make(ExprKind::Literal(Literal::Int(1 << 30)));
        let product = make(ExprKind::Binary(BinaryOp::Mul, x, large));
        let square = make(ExprKind::Binary(BinaryOp::Mul, product, large));
        let cube = make(ExprKind::Binary(BinaryOp::Mul, square, large));
        assert!(periodic(&p, product, 0).is_some());
        assert_eq!(periodic(&p, square, 0), None);
        assert_eq!(periodic(&p, cube, 0), None);
    }
}
