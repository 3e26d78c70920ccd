//! Indices that repeat: `f(x + p) = f(x) + s` for a small period `p`, as `x / 2 - 1 + 2 * (x % 2)` does with
//! period 2 and step 1. An affine form has period 1. Sums of such functions of several variables, as
//! `2 * x + c % 2`, keep them apart.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_stages::bounds::{AffineVar, Interval};
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

    /// Least and greatest value over an interval: they are within a period of its ends.
    pub fn range(&self, Interval { min, max }: Interval) -> (i64, i64) {
        let (min, max, last) = (i64::from(min), i64::from(max), self.table.len() as i64 - 1);
        let begin = min..=(min + last).min(max);
        let end = (max - last).max(min)..=max;
        let values = || begin.clone().chain(end.clone()).map(|x| self.at(x));
        (values().min().unwrap_or(0), values().max().unwrap_or(0))
    }

    /// The same with the shortest period.
    fn shortened(self) -> Periodic {
        let all = self.table.len() as i64;
        let repeats = |&p: &i64| {
            let step = self.at(p) - self.at(0);
            all % p == 0 && (0..all).all(|x| self.at(x + p) - self.at(x) == step)
        };
        let p = (1..all).find(repeats).unwrap_or(all);
        Periodic { step: self.at(p) - self.at(0), table: self.table[..p as usize].to_vec() }
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

/// A sum of a constant and of repeating functions of a variable each, none of them a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Separable {
    /// The constant.
    pub constant: i64,
    /// The functions, each 0 at 0.
    pub terms: BTreeMap<AffineVar, Periodic>,
}

impl Separable {
    fn new(
        constant: i128,
        terms: impl IntoIterator<Item = (AffineVar, Periodic)>,
    ) -> Option<Separable> {
        let mut sum = Separable { constant: 0, terms: BTreeMap::new() };
        let mut all = constant;
        for (var, term) in terms {
            let first = i128::from(term.table[0]);
            all += first;
            let term = Periodic::tabulate(term.table.len() as i64, |x| term.wide(x) - first)?;
            if term.step != 0 || term.table.iter().any(|&value| value != 0) {
                sum.terms.insert(var, term.shortened());
            }
        }
        sum.constant = i32::try_from(all).ok()?.into();
        Some(sum)
    }

    fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The sum with a constant added.
    pub fn plus(mut self, constant: i64) -> Separable {
        self.constant += constant;
        self
    }

    /// `self * a + other * b`.
    fn combine(&self, a: i64, other: &Separable, b: i64) -> Option<Separable> {
        let scaled = |of: &Separable, by: i64| -> Option<BTreeMap<AffineVar, Periodic>> {
            let scaled = |(&var, term): (&AffineVar, &Periodic)| {
                Some((var, term.combine(term, |value, _| value * i128::from(by))?))
            };
            of.terms.iter().map(scaled).collect()
        };
        let mut terms = scaled(self, a)?;
        for (var, term) in scaled(other, b)? {
            let sum = match terms.remove(&var) {
                Some(known) => known.combine(&term, |x, y| x + y)?,
                None => term,
            };
            terms.insert(var, sum);
        }
        let constants =
            [(self, a), (other, b)].map(|(of, by)| i128::from(of.constant) * i128::from(by));
        Separable::new(constants.into_iter().sum(), terms)
    }

    /// Quotient, or remainder, of a division by `m`: multiples of `m` are outside of it, and what is left
    /// depends on one variable at most.
    fn divided(&self, m: i64, remainder: bool) -> Option<Separable> {
        let is_multiple =
            |term: &Periodic| term.step % m == 0 && term.table.iter().all(|value| value % m == 0);
        let (whole, rest): (Vec<_>, Vec<_>) =
            self.terms.clone().into_iter().partition(|(_, term)| is_multiple(term));
        let op = if remainder { i128::rem_euclid } else { i128::div_euclid };
        let (constant, rest) = match &rest[..] {
            [] => (op(self.constant.into(), m.into()), None),
            [(var, term)] => {
                let by = i128::from(self.constant);
                let sum = Periodic::tabulate(term.table.len() as i64, |x| term.wide(x) + by)?;
                (0, Some((*var, sum.divide(m, op)?)))
            }
            _ => return None,
        };
        let whole = whole.into_iter().filter(|_| !remainder).map(|(var, term)| {
            Some((var, term.combine(&term, |value, _| value.div_euclid(m.into()))?))
        });
        let whole: Option<Vec<_>> = whole.collect();
        Separable::new(constant, whole?.into_iter().chain(rest))
    }
}

/// Reads an index as a sum of repeating functions of loop counters.
pub fn separable(pipeline: &Pipeline, index: Expr) -> Option<Separable> {
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
    let mut found: BTreeMap<Expr, Separable> = BTreeMap::new();
    for expr in reachable {
        let value = one(pipeline, &found, expr)?;
        found.insert(expr, value);
    }
    found.remove(&index)
}

/// Whether a value comes from elsewhere, which nothing that repeats is made of.
fn is_read(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Load(..) | ExprKind::Call(..) | ExprKind::Intrinsic(..))
}

fn one(pipeline: &Pipeline, found: &BTreeMap<Expr, Separable>, expr: Expr) -> Option<Separable> {
    let data = &pipeline.exprs[expr];
    if data.ty != ElementType::I32 {
        return None;
    }
    let variable =
        |var: AffineVar| Separable::new(0, [(var, Periodic { step: 1, table: vec![0] })]);
    match &data.kind {
        ExprKind::Literal(Literal::Int(value)) => Separable::new(i128::from(*value), []),
        ExprKind::Dim(n) => variable(AffineVar::Dim(*n)),
        ExprKind::RVar(rdom, n) => variable(AffineVar::RVar(*rdom, *n)),
        ExprKind::Unary(UnaryOp::Neg, a) => found[a].combine(-1, &found[a], 0),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (&found[a], &found[b]);
            match (op, a.as_constant(), b.as_constant()) {
                (BinaryOp::Add, ..) => a.combine(1, b, 1),
                (BinaryOp::Sub, ..) => a.combine(1, b, -1),
                (BinaryOp::Mul, _, Some(by)) => a.combine(by, a, 0),
                (BinaryOp::Mul, Some(by), None) => b.combine(by, b, 0),
                (BinaryOp::Div, _, Some(m)) if m > 0 => a.divided(m, false),
                (BinaryOp::Mod, _, Some(m)) if m > 0 => a.divided(m, true),
                (BinaryOp::And, _, Some(m)) if m > 0 && (m + 1).count_ones() == 1 => {
                    a.divided(m + 1, true)
                }
                (BinaryOp::Shr, _, Some(n)) if (0..5).contains(&n) => a.divided(1 << n, false),
                (BinaryOp::Shl, _, Some(n)) if (0..5).contains(&n) => a.combine(1 << n, a, 0),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use nbcc_base::Span;
    use nbcc_stages::build::Build;

    use super::super::evaluate::Coordinate;
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
            let found = separable(&p, expr).expect("it repeats");
            let along = &found.terms[&AffineVar::Dim(0)];
            for x in -40..40 {
                assert_eq!(found.constant + along.at(x), f(x), "{x}");
            }
        }
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
        assert!(separable(&p, product).is_some());
        assert_eq!(separable(&p, square), None);
        assert_eq!(separable(&p, cube), None);
    }

    /// A random sum of quotients and remainders of three variables.
    fn random(build: &mut Build, seed: &mut u32, depth: u32) -> Expr {
        let mut next = |n: u32| {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (*seed >> 16) % n
        };
        let (choice, number) = (next(8), next(7) as i32 - 2);
        if depth == 0 || choice == 7 {
            return if number < 1 { build.int(number) } else { build.dim(number as u32 % 3) };
        }
        let a = random(build, seed, depth - 1);
        let b = match choice {
            0 | 1 => random(build, seed, depth - 1),
            _ => build.int(number),
        };
        use BinaryOp::{Add, And, Div, Mod, Mul, Sub};
        build.binary([Add, Sub, Mul, Div, Mod, Mul, And][choice as usize], a, b)
    }

    #[test]
    fn sums_are_what_they_are_of() {
        let (mut seed, mut found) = (1, 0);
        for case in 0..12_000 {
            let mut build = Build::new();
            let index = random(&mut build, &mut seed, 4);
            let Some(sum) = separable(&build.pipeline, index) else { continue };
            found += usize::from(sum.terms.len() > 1);
            let coordinate = Coordinate::new(&build.pipeline, index).expect("it is decided");
            for at in [[0, 0, 0], [1, 5, 7], [-3, 2, 11], [16, -9, 4], [100, 31, -57]] {
                let value = |var: AffineVar| match var {
                    AffineVar::Dim(n) => at[n as usize],
                    AffineVar::RVar(..) => panic!("there is no domain"),
                };
                let mut expected = vec![];
                let one = |var: AffineVar| Interval::new(value(var), value(var));
                coordinate.each(one, |run| expected.extend(run.values()));
                let terms = sum.terms.iter().map(|(&var, term)| {
                    let at = value(var);
                    assert_eq!(term.range(Interval::new(at, at)).0, term.at(at.into()));
                    term.at(at.into())
                });
                assert_eq!(vec![sum.constant + terms.sum::<i64>()], expected, "case {case}");
            }
        }
        assert!(found > 200, "{found} are sums");
    }

    #[test]
    fn ranges_are_those_of_all_points() {
        for step in -3..=3 {
            for table in [vec![0, 3, -1, 2], vec![0, 1], vec![0, 0, 0, 5, 1]] {
                let of = Periodic { step, table };
                for (min, max) in [(0, 0), (-3, 2), (1, 17), (5, 40)] {
                    let values = || (min..=max).map(|x| of.at(x));
                    let expected = (values().min().unwrap(), values().max().unwrap());
                    let found = of.range(Interval::new(min as i32, max as i32));
                    assert_eq!(found, expected, "{of:?} from {min} to {max}");
                }
            }
        }
    }
}
