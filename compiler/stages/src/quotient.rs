//! Quotients that some values are: `max(min(floor((a * x + b) / d), high), low)` at each point `x` of an
//! interval.
//!
//! For a slope `a / d` every value leaves an interval of numbers `b`, and what all of them leave is what they
//! have in common. So whether values are such a quotient is decided exactly, from the values alone.

use num_integer::gcd;

/// No greater divisor is looked for: tiles are cut no finer than that for the sake of an access.
const MAX_DIVISOR: i64 = 16;

/// `max(min(floor((a * x + b) / d), high), low)`, the limits where there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// What `x` is multiplied by.
    pub a: i64,
    /// What is added.
    pub b: i64,
    /// What is divided by, at least 1.
    pub d: i64,
    /// The least value.
    pub low: Option<i64>,
    /// The greatest value.
    pub high: Option<i64>,
}

impl Quotient {
    /// The value at `x`.
    pub fn at(&self, x: i64) -> i64 {
        let value = (self.a * x + self.b).div_euclid(self.d);
        let most = self.high.map_or(value, |high| value.min(high));
        self.low.map_or(most, |low| most.max(low))
    }

    /// The quotient that some values are at the points from `first` on, with the least divisor and with
    /// no limit that makes no difference; `None` where they are none.
    pub fn of(first: i64, values: &[i64]) -> Option<Quotient> {
        let (begin, end) = (*values.first()?, *values.last()?);
        let grows = values.is_sorted();
        if !grows && !values.is_sorted_by(|a, b| a >= b) {
            return None;
        }
        if begin == end {
            return Some(Quotient { a: 0, b: begin, d: 1, low: None, high: None });
        }
        let (low, high) = (begin.min(end), begin.max(end));
        let limits = [(None, None), (Some(low), None), (None, Some(high)), (Some(low), Some(high))];
        let slopes = slopes(values);
        let mut all =
            limits.into_iter().flat_map(|limits| slopes.iter().map(move |of| (*of, limits)));
        all.find_map(|((a, d), (low, high))| {
            let b = offset((a, d), (low, high), first, values)?;
            Some(Quotient { a, b, d, low, high })
        })
    }
}

/// The slopes with a divisor next to that from one value to another.
fn near(values: &[i64], (i, j): (usize, usize), d: i64) -> [(i64, i64); 3] {
    let (rise, run) = (values[j] - values[i], (j - i) as i64);
    let nearest = (2 * rise * d + run).div_euclid(2 * run);
    [nearest, nearest - 1, nearest + 1].map(|a| (a, d))
}

/// The slopes `a / d` that values, which only grow or only fall, may have, in lowest terms, those of small
/// divisors first: about that from the first to the last, or from where the first ends to where the last
/// begins, which may be limits.
fn slopes(values: &[i64]) -> Vec<(i64, i64)> {
    let last = values.len() - 1;
    let after = values.iter().position(|&value| value != values[0]).unwrap_or(last);
    let before = values.iter().rposition(|&value| value != values[last]).unwrap_or(0);
    let ways = [(0, last), (after.max(1) - 1, before + 1)];
    let of = |d: i64| ways.map(|way| near(values, way, d));
    let all = (1..=MAX_DIVISOR).flat_map(of).flatten();
    let mut found: Vec<(i64, i64)> = all.filter(|&(a, d)| a != 0 && gcd(a, d) == 1).collect();
    found.dedup();
    found
}

/// The least `b` with which `floor((a * x + b) / d)`, brought within limits, is each of some values.
fn offset(
    (a, d): (i64, i64),
    (low, high): (Option<i64>, Option<i64>),
    first: i64,
    values: &[i64],
) -> Option<i64> {
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    for (x, &value) in (first..).zip(values) {
        let begin = d * value - a * x;
        if low != Some(value) {
            least = least.max(begin);
        }
        if high != Some(value) {
            most = most.min(begin + d - 1);
        }
        if least > most {
            return None;
        }
    }
    // Of the numbers that are left one that the divisor divides needs no place in the quotient.
    let whole = most.div_euclid(d) * d;
    Some(if whole >= least { whole } else { least }).filter(|_| least > i64::MIN && most < i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(points: std::ops::Range<i64>, at: impl Fn(i64) -> i64) -> Vec<i64> {
        points.map(at).collect()
    }

    /// Quotients with all kinds of slopes, offsets and limits are found again, as functions.
    #[test]
    fn quotients_are_found() {
        let mut seed = 1u32;
        let mut next = |n: i64| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i64::from(seed >> 16) % n
        };
        for case in 0..20_000 {
            let (a, d) = (next(40) - 20, next(MAX_DIVISOR) + 1);
            let (first, count) = (next(100) - 50, next(80) + 1);
            let b = next(200) - 100;
            let mut quotient = Quotient { a, b, d, low: None, high: None };
            let (one, other) = (quotient.at(first + next(count)), quotient.at(first + next(count)));
            quotient.low = (next(2) == 0).then_some(one.min(other));
            quotient.high = (next(2) == 0).then_some(one.max(other));
            let values = values(first..first + count, |x| quotient.at(x));
            let found = Quotient::of(first, &values);
            let found = found
                .unwrap_or_else(|| panic!("case {case}: {quotient:?} from {first}: {values:?}"));
            let same = (first..).zip(&values).all(|(x, &value)| found.at(x) == value);
            assert!(same, "case {case}: {quotient:?} is not {found:?}");
        }
    }

    #[test]
    fn what_is_no_quotient_is_none() {
        let thirds = values(0..64, |x| x / 3);
        let mut other = thirds.clone();
        other[20] += 1;
        let found = Quotient { a: 1, b: 0, d: 3, low: None, high: None };
        assert_eq!(Quotient::of(0, &thirds), Some(found));
        assert_eq!(Quotient::of(0, &other), None);
        assert_eq!(Quotient::of(0, &values(0..64, |x| x * x)), None);
        assert_eq!(Quotient::of(0, &values(-9..64, |x| x.abs())), None);
        assert_eq!(Quotient::of(0, &values(0..512, |x| x * 17 / 23)), None);
    }
}
