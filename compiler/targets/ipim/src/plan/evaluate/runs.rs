//! The values of a coordinate while one variable counts, without looking at each: most coordinates
//! are straight lines, or stairs of equal steps, between few points. Where one is neither, the
//! variable's interval is halved.

use nbcc_stages::bounds::{AffineVar, Interval};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Expr, ExprKind, UnaryOp, scalar};

use super::Coordinate;

/// Values at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub first: i64,
    /// The distance of each from the one before.
    pub step: i64,
    /// How many there are, at least 1.
    pub count: i64,
}

impl Run {
    /// The last value.
    pub fn last(&self) -> i64 {
        self.first + self.step * (self.count - 1)
    }

    /// The values.
    pub fn values(self) -> impl Iterator<Item = i64> {
        (0..self.count).map(move |n| self.first + self.step * n)
    }
}

/// A shorter interval is not halved: it is looked at point by point.
const MAX_UNHALVED: i64 = 8;

/// What an expression is over an interval.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// One word.
    Word(u32),
    /// 32-bit integers on a straight line that is not level.
    Line { first: i64, step: i64 },
    /// 32-bit integers that go from `first` to `last`, never back: each is as large as the one
    /// before, or `by` away from it.
    Steps { first: i64, last: i64, by: i64 },
    /// Anything.
    Unknown,
}

impl Values {
    /// A line of `count` values; anything where they are not 32-bit integers.
    fn line(first: i64, step: i64, count: i64) -> Values {
        let last = step.checked_mul(count - 1).and_then(|rest| first.checked_add(rest));
        match [Some(first), last].map(|end| end.and_then(|end| i32::try_from(end).ok())) {
            [Some(word), Some(last)] if word == last => Values::Word(word as u32),
            [Some(_), Some(_)] => Values::Line { first, step },
            _ => Values::Unknown,
        }
    }

    fn steps(first: i64, last: i64, by: i64) -> Values {
        match [first, last].map(i32::try_from) {
            [Ok(word), Ok(last)] if word == last => Values::Word(word as u32),
            [Ok(_), Ok(_)] => Values::Steps { first, last, by },
            _ => Values::Unknown,
        }
    }

    fn word(self) -> Option<u32> {
        if let Values::Word(word) = self { Some(word) } else { None }
    }

    /// First and last of 32-bit integers between which they only grow or only fall.
    fn ends(self, count: i64) -> Option<[i64; 2]> {
        match self {
            Values::Word(word) => Some([i64::from(word as i32); 2]),
            Values::Line { first, step } => Some([first, first + step * (count - 1)]),
            Values::Steps { first, last, .. } => Some([first, last]),
            Values::Unknown => None,
        }
    }

    /// How far a value is from the next where they differ; 1 for one word.
    fn by(self) -> Option<i64> {
        match self {
            Values::Line { step, .. } => Some(step.abs()),
            Values::Steps { by, .. } => Some(by),
            Values::Word(_) => Some(1),
            Values::Unknown => None,
        }
    }

    fn negated(self, count: i64) -> Values {
        self.scaled(-1, count)
    }

    fn scaled(self, by: i64, count: i64) -> Values {
        match self {
            Values::Word(word) => Values::line(i64::from(word as i32) * by, 0, 1),
            Values::Line { first, step } => {
                Values::line(first * by, step.saturating_mul(by), count)
            }
            Values::Steps { first, last, by: own } => {
                Values::steps(first * by, last * by, own.saturating_mul(by.abs()))
            }
            Values::Unknown => Values::Unknown,
        }
    }

    fn plus(self, other: Values, count: i64) -> Values {
        let integer = |word: u32| i64::from(word as i32);
        match (self, other) {
            (Values::Word(a), Values::Word(b)) => Values::line(integer(a) + integer(b), 0, 1),
            (Values::Line { first: a, step: s }, Values::Line { first: b, step: t }) => {
                Values::line(a + b, s + t, count)
            }
            (Values::Line { first, step }, Values::Word(b))
            | (Values::Word(b), Values::Line { first, step }) => {
                Values::line(first + integer(b), step, count)
            }
            (Values::Steps { first, last, by }, Values::Word(b))
            | (Values::Word(b), Values::Steps { first, last, by }) => {
                Values::steps(first + integer(b), last + integer(b), by)
            }
            _ => Values::Unknown,
        }
    }

    /// Divided by `m`, at least 1.
    fn divided(self, m: i64, count: i64) -> Values {
        match self {
            Values::Line { first, step } if step % m == 0 => {
                Values::line(first.div_euclid(m), step / m, count)
            }
            other => match (other.ends(count), other.by()) {
                (Some(ends), Some(by)) if by <= m || by % m == 0 => {
                    let [first, last] = ends.map(|end| end.div_euclid(m));
                    Values::steps(first, last, (by / m).max(1))
                }
                _ => Values::Unknown,
            },
        }
    }

    /// The remainder of a division by `m`, at least 1.
    fn remainder(self, m: i64, count: i64) -> Values {
        match (self.by(), self.ends(count)) {
            (Some(by), Some([first, _])) if by % m == 0 => Values::line(first.rem_euclid(m), 0, 1),
            (_, Some([first, last])) if first.div_euclid(m) == last.div_euclid(m) => {
                let whole = Values::line(-first.div_euclid(m) * m, 0, 1);
                self.plus(whole, count)
            }
            _ => Values::Unknown,
        }
    }

    /// The less or greater of this and `limit`, as `op` says.
    fn limited(self, limit: i64, op: impl Fn(i64, i64) -> i64, count: i64) -> Values {
        let (Some(ends), Some(by)) = (self.ends(count), self.by()) else { return Values::Unknown };
        let limited = ends.map(|end| op(end, limit));
        if limited == ends {
            self
        } else if by == 1 || limited == [limit; 2] {
            Values::steps(limited[0], limited[1], by)
        } else {
            Values::Unknown
        }
    }
}

impl Coordinate<'_> {
    /// Visits the values over the points `at` of which variable `swept`, if there is any, goes over
    /// an interval, each at least once.
    pub(super) fn sweep(
        &self,
        at: &mut [i32],
        swept: Option<usize>,
        interval: Interval,
        visit: &mut impl FnMut(Run),
    ) {
        let mut parts = vec![interval];
        let (mut values, mut words) = (vec![], vec![]);
        while let Some(part) = parts.pop() {
            if let Some(k) = swept {
                at[k] = part.min;
            }
            let count = i64::from(part.extent());
            values.clear();
            words.clear();
            for &expr in &self.order {
                let value = self.values(expr, &values, &words, at, (swept, count));
                values.push(value);
                words.push(value.word().unwrap_or_default());
            }
            let root = *self.order.last().expect("a coordinate consists of itself");
            match values[self.slot(root)] {
                Values::Word(word) => {
                    let first = scalar::to_i64(self.pipeline.ty(root), word);
                    visit(Run { first, step: 1, count: 1 });
                }
                Values::Line { first, step } => visit(Run { first, step, count }),
                Values::Steps { first, last, by } => {
                    let step = (last - first).signum() * by;
                    visit(Run { first, step, count: (last - first) / step + 1 });
                }
                Values::Unknown if count <= MAX_UNHALVED => {
                    parts.extend((part.min..=part.max).rev().map(|at| Interval::new(at, at)));
                }
                Values::Unknown => {
                    let middle = part.min + (part.extent() / 2) as i32;
                    parts.push(Interval::new(middle, part.max));
                    parts.push(Interval::new(part.min, middle - 1));
                }
            }
        }
    }

    /// What an expression is from point `at` on, over `count` values of the variable that is swept.
    fn values(
        &self,
        expr: Expr,
        values: &[Values],
        words: &[u32],
        at: &[i32],
        (swept, count): (Option<usize>, i64),
    ) -> Values {
        let data = &self.pipeline.exprs[expr];
        let var = match data.kind {
            ExprKind::Dim(n) => Some(AffineVar::Dim(n)),
            ExprKind::RVar(rdom, n) => Some(AffineVar::RVar(rdom, n)),
            _ => None,
        };
        if let Some(k) = swept
            && var == Some(self.vars[k])
        {
            return Values::line(at[k].into(), 1, count);
        }
        let of = |e: &Expr| values[self.slot(*e)];
        let mut known = true;
        data.kind.each_operand(|e| known &= of(&e).word().is_some());
        if known {
            return Values::Word(self.word(expr, words, at));
        }
        let integers = |all: &[&Expr]| {
            let mut types = all.iter().map(|e| self.pipeline.ty(**e));
            types.all(|ty| ty == ElementType::I32)
        };
        match &data.kind {
            ExprKind::Unary(UnaryOp::Neg, a) if integers(&[&expr, a]) => of(a).negated(count),
            ExprKind::Cast(a) if integers(&[&expr, a]) => of(a),
            ExprKind::Binary(op, a, b) if integers(&[&expr, a, b]) => {
                binary(*op, of(a), of(b), count)
            }
            ExprKind::Compare(op, a, b) if integers(&[a, b]) => ordered(*op, of(a), of(b), count),
            ExprKind::Select(c, a, b) => match of(c).word() {
                Some(word) => of(if word != 0 { a } else { b }),
                None => Values::Unknown,
            },
            _ => Values::Unknown,
        }
    }
}

fn binary(op: BinaryOp, a: Values, b: Values, count: i64) -> Values {
    let [x, y] = [a, b].map(|v| v.word().map(|word| i64::from(word as i32)));
    match (op, x, y) {
        (BinaryOp::Add, ..) => a.plus(b, count),
        (BinaryOp::Sub, ..) => a.plus(b.negated(count), count),
        (BinaryOp::Mul, _, Some(by)) => a.scaled(by, count),
        (BinaryOp::Mul, Some(by), _) => b.scaled(by, count),
        (BinaryOp::Div, _, Some(m)) if m > 0 => a.divided(m, count),
        (BinaryOp::Mod, _, Some(m)) if m > 0 => a.remainder(m, count),
        (BinaryOp::Shr, _, Some(n)) if (0..31).contains(&n) => a.divided(1 << n, count),
        (BinaryOp::Min, _, Some(limit)) => a.limited(limit, i64::min, count),
        (BinaryOp::Min, Some(limit), _) => b.limited(limit, i64::min, count),
        (BinaryOp::Max, _, Some(limit)) => a.limited(limit, i64::max, count),
        (BinaryOp::Max, Some(limit), _) => b.limited(limit, i64::max, count),
        _ => Values::Unknown,
    }
}

/// Compares, where the order of both is the same all along.
fn ordered(op: CompareOp, a: Values, b: Values, count: i64) -> Values {
    let (Some(x), Some(y)) = (a.ends(count), b.ends(count)) else { return Values::Unknown };
    let [low, high] = [x[0].min(x[1]), x[0].max(x[1])];
    let [least, most] = [y[0].min(y[1]), y[0].max(y[1])];
    // Which holds wherever the first operand is least or greatest against the second.
    let holds = |a: i64, b: i64| match op {
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
    };
    let apart = high < least || most < low;
    let is_order = !matches!(op, CompareOp::Eq | CompareOp::Ne);
    let [one, other] = [holds(low, most), holds(high, least)];
    match apart || is_order && one == other {
        true => Values::Word(u32::from(one)),
        false => Values::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nbcc_stages::Pipeline;
    use nbcc_stages::build::Build;

    use super::*;

    /// The values over an interval of `x`, and how many runs they are in.
    fn found(pipeline: &Pipeline, index: Expr, [min, max]: [i32; 2]) -> (BTreeSet<i64>, usize) {
        let coordinate = Coordinate::new(pipeline, index).expect("loop counters decide it");
        let (mut values, mut runs) = (BTreeSet::new(), 0);
        let visit = |run: Run| {
            values.extend(run.values());
            runs += 1;
        };
        assert!(coordinate.each(|_| Interval::new(min, max), visit));
        (values, runs)
    }

    /// A random expression of `x`.
    fn random(build: &mut Build, seed: &mut u32, depth: u32) -> Expr {
        let mut next = |n: u32| {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (*seed >> 16) % n
        };
        if depth == 0 || next(8) == 0 {
            let constants = [-65535, -9, -3, -1, 0, 1, 2, 3, 4, 7, 16, 65535, 1 << 30, i32::MAX];
            return match next(2) {
                0 => build.dim(0),
                _ => build.int(constants[next(constants.len() as u32) as usize]),
            };
        }
        let (choice, order) = (next(12), next(6));
        let a = random(build, seed, depth - 1);
        let b = random(build, seed, depth - 1);
        let ops = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Mod,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::Shr,
            BinaryOp::And,
        ];
        match ops.get(choice as usize) {
            Some(&op) => build.binary(op, a, b),
            None if choice == 9 => build.expr(ExprKind::Unary(UnaryOp::Neg, a), ElementType::I32),
            None => {
                use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
                let c = random(build, seed, depth - 1);
                let holds = build.compare([Eq, Ne, Lt, Le, Gt, Ge][order as usize], a, b);
                build.expr(ExprKind::Select(holds, b, c), ElementType::I32)
            }
        }
    }

    #[test]
    fn runs_hold_the_values_at_all_points() {
        let mut seed = 1;
        let (mut fewer, mut many) = (0, 0);
        for _ in 0..1000 {
            let mut build = Build::new();
            let index = random(&mut build, &mut seed, 3);
            let (min, max) = (-41, 62);
            let (values, runs) = found(&build.pipeline, index, [min, max]);
            let points = (min..=max).flat_map(|x| found(&build.pipeline, index, [x, x]).0);
            assert_eq!(values, points.collect(), "seed {seed}");
            many += usize::from(values.len() > 20);
            fewer += usize::from(values.len() > 20 && runs < values.len() / 4);
        }
        assert!(fewer > 100, "{fewer} of {many} are in few runs");
    }

    /// Levels of a pyramid that reach far beyond the image.
    #[test]
    fn clamped_and_scaled_coordinates_take_as_many_runs_however_many_points_there_are() {
        let mut build = Build::new();
        let mut index = build.dim(0);
        for _ in 0..4 {
            let (far, two) = (build.int(65535), build.int(2));
            let sum = build.add(index, far);
            let half = build.binary(BinaryOp::Div, sum, two);
            let low = build.clamp(half, 0, 150_000);
            let twice = build.mul(low, two);
            let one = build.int(-1);
            index = build.add(twice, one);
        }
        for points in [1 << 8, 1 << 12, 1 << 17] {
            let (values, runs) = found(&build.pipeline, index, [-40_000, points - 40_001]);
            assert!(values.len() >= points as usize / 4, "{} values", values.len());
            assert!(runs <= 64, "{runs} runs of {} values at {points} points", values.len());
        }
    }
}
