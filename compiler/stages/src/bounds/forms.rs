//! Linear forms with quotients: what an index is a sum of.
//!
//! Beside variables a form may hold `floor(a / d)` of an affine `a`, so that `x - x % 2` is seen to
//! be `2 * floor(x / 2)`, and opaque values, so that equal ones cancel. The quotients of one
//! variable repeat with the least common multiple of their divisors, apart from a constant: a sum
//! of them takes its extremes within the first or the last period.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::Expr;

use super::affine::{Affine, AffineVar, Linear};
use super::env::Env;

/// A term of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Term {
    /// A variable.
    Var(AffineVar),
    /// A quotient of the form's [`Floors`].
    Floor(u32),
    /// A value of no known form.
    Opaque(Expr),
}

/// A sum of terms.
pub(super) type Form = Linear<Term>;

/// Sums of quotients whose divisors have a greater common multiple are bounded term by term.
const MAX_PERIOD: i64 = 64;

/// A part of a sum, and the first and last value of its variable.
type Between = (Part, i64, i64);

/// The quotients that some forms hold, each once: an affine numerator and a divisor of at least 2.
#[derive(Debug, Default)]
pub(super) struct Floors {
    list: Vec<(Affine, i64)>,
    numbers: BTreeMap<(Affine, i64), u32>,
    /// What parts of sums were found to be between two values of their variable: expressions that differ by
    /// constants have the same parts.
    extremes: RefCell<BTreeMap<Between, Option<(i128, i128)>>>,
}

impl Floors {
    /// `floor(form / divisor)`; `None` where it is no sum of quotients of variables. The value of
    /// `form` must not wrap.
    pub(super) fn divide(&mut self, form: &Form, divisor: i64) -> Option<Form> {
        if divisor < 1 {
            return None;
        }
        if let [(&Term::Floor(n), 1)] = form.terms.iter().collect::<Vec<_>>()[..] {
            // floor((floor(a / b) + c) / d) is floor((a + b * c) / (b * d)).
            let (numerator, inner) = self.list[n as usize].clone();
            let shift = Affine::constant(form.constant.checked_mul(inner)?);
            let numerator = numerator.combine(1, &shift, 1)?;
            return self.quotient(&numerator, inner.checked_mul(divisor)?);
        }
        // Multiples of the divisor leave the quotient, whatever they are multiples of.
        let mut whole = Form::default();
        let mut rest = Affine::constant(form.constant);
        for (&term, &c) in &form.terms {
            match term {
                _ if c % divisor == 0 => {
                    whole.terms.insert(term, c / divisor);
                }
                Term::Var(var) => {
                    rest.terms.insert(var, c);
                }
                _ => return None,
            }
        }
        whole.combine(1, &self.quotient(&rest, divisor)?, 1)
    }

    /// `floor(numerator / divisor)`, its multiples of the divisor outside of the quotient.
    fn quotient(&mut self, numerator: &Affine, divisor: i64) -> Option<Form> {
        let mut whole = Form::constant(numerator.constant.div_euclid(divisor));
        let mut rest = Affine::constant(numerator.constant.rem_euclid(divisor));
        for (&var, &c) in &numerator.terms {
            if c.div_euclid(divisor) != 0 {
                whole.terms.insert(Term::Var(var), c.div_euclid(divisor));
            }
            if c.rem_euclid(divisor) != 0 {
                rest.terms.insert(var, c.rem_euclid(divisor));
            }
        }
        if rest.terms.is_empty() {
            return Some(whole);
        }
        let key = (rest, divisor);
        let n = *self.numbers.entry(key).or_insert_with_key(|key| {
            self.list.push(key.clone());
            self.list.len() as u32 - 1
        });
        whole.combine(1, &Form::var(Term::Floor(n)), 1)
    }

    /// The range of a quotient.
    pub(super) fn range(&self, n: u32, env: &Env) -> (i64, i64) {
        let (numerator, divisor) = &self.list[n as usize];
        let (low, high) = numerator.range(|var| {
            let interval = env.interval(var);
            (interval.min.into(), interval.max.into())
        });
        let ends = |v: i128| v.div_euclid(i128::from(*divisor));
        let fit = |v: i128| v.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        (fit(ends(low)), fit(ends(high)))
    }

    /// The exact range of a form of variables and quotients of one variable each. `None` for other
    /// forms, for those without a quotient, and where the period is too long.
    pub(super) fn range_of_sum(&self, form: &Form, env: &Env) -> Option<(i128, i128)> {
        let mut parts: BTreeMap<AffineVar, Part> = BTreeMap::new();
        let mut quotients = false;
        for (&term, &c) in &form.terms {
            match term {
                Term::Var(var) => parts.entry(var).or_default().linear += c,
                Term::Floor(n) => {
                    let (numerator, divisor) = &self.list[n as usize];
                    let mut vars = numerator.terms.iter();
                    let (Some((&var, &a)), None) = (vars.next(), vars.next()) else { return None };
                    let part = parts.entry(var).or_default();
                    part.quotients.push((c, a, numerator.constant, *divisor));
                    quotients = true;
                }
                Term::Opaque(_) => return None,
            }
        }
        if !quotients {
            return None;
        }
        let mut range = (i128::from(form.constant), i128::from(form.constant));
        for (var, part) in parts {
            let interval = env.interval(var);
            let (low, high) = self.extremes(part, interval.min.into(), interval.max.into())?;
            range = (range.0 + low, range.1 + high);
        }
        Some(range)
    }

    /// The extremes of a part between two values of its variable.
    fn extremes(&self, part: Part, first: i64, last: i64) -> Option<(i128, i128)> {
        let mut known = self.extremes.borrow_mut();
        let found = known.entry((part, first, last));
        *found.or_insert_with_key(|(part, ..)| part.extremes(first, last))
    }
}

/// What a form holds of one variable `v`: `linear * v + sum of c * floor((a * v + b) / d)`.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    linear: i64,
    /// `(c, a, b, d)`.
    quotients: Vec<(i64, i64, i64, i64)>,
}

impl Part {
    fn at(&self, v: i128) -> i128 {
        let quotients = self.quotients.iter().map(|&(c, a, b, d)| {
            let numerator = i128::from(a) * v + i128::from(b);
            i128::from(c) * numerator.div_euclid(i128::from(d))
        });
        i128::from(self.linear) * v + quotients.sum::<i128>()
    }

    fn extremes(&self, first: i64, last: i64) -> Option<(i128, i128)> {
        let mut period = 1;
        for &(_, _, _, d) in &self.quotients {
            if d > MAX_PERIOD {
                return None;
            }
            period = num_integer::lcm(period, d);
        }
        if period > MAX_PERIOD {
            return None;
        }
        let (mut low, mut high) = (self.at(first.into()), self.at(first.into()));
        for step in 0..period.min(last.saturating_sub(first) + 1) {
            for v in [first + step, last - step] {
                let value = self.at(v.into());
                (low, high) = (low.min(value), high.max(value));
            }
        }
        Some((low, high))
    }
}
