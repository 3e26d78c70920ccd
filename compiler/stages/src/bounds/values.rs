//! What expressions can be: a range each, and a linear form of those that are an `I32`.

use std::collections::BTreeMap;

use crate::Expr;

use super::env::Env;
use super::forms::{Floors, Form, Term};
use super::interval::Range;

/// The ranges of some expressions in one [`Env`].
#[derive(Debug)]
pub struct Values {
    /// What is evaluated, in order.
    pub(super) order: Vec<Expr>,
    ranges: Vec<Range>,
    forms: Vec<Option<Form>>,
    floors: Floors,
    /// The ends of the ranges of opaque terms.
    opaque: BTreeMap<Expr, (i64, i64)>,
}

impl Values {
    /// Of these expressions, in arena order, before any is evaluated.
    pub(super) fn new(order: Vec<Expr>) -> Values {
        let count = order.len();
        Values {
            order,
            ranges: Vec::with_capacity(count),
            forms: Vec::with_capacity(count),
            floors: Floors::default(),
            opaque: BTreeMap::new(),
        }
    }

    fn slot(&self, expr: Expr) -> usize {
        match self.order.binary_search(&expr) {
            Ok(slot) => slot,
            Err(_) => panic!("{expr:?} was not evaluated"),
        }
    }

    /// The range of an expression that was evaluated. Panics on another.
    pub fn range(&self, expr: Expr) -> Range {
        self.ranges[self.slot(expr)]
    }

    /// The form of an expression that was evaluated, if it is an `I32`.
    pub(super) fn form(&self, expr: Expr) -> Option<&Form> {
        self.forms.get(self.slot(expr))?.as_ref()
    }

    /// What a term of a form can be.
    pub(super) fn term(&self, term: Term, env: &Env) -> (i64, i64) {
        match term {
            Term::Var(var) => {
                let interval = env.interval(var);
                (interval.min.into(), interval.max.into())
            }
            Term::Floor(n) => self.floors.range(n, env),
            Term::Opaque(expr) => self.opaque[&expr],
        }
    }

    /// The range of `a - b` as integers without limit, where both have forms that do not wrap.
    pub(super) fn difference(&self, a: Expr, b: Expr, env: &Env) -> Option<Range> {
        let (x, y) = (self.form(a)?, self.form(b)?);
        self.form_range(x, env)?;
        self.form_range(y, env)?;
        let (low, high) = self.form_range(&x.combine(1, y, -1)?, env)?;
        let ((a, b), (c, d)) = (self.range(a).ints(), self.range(b).ints());
        Some(Range::Int(low.max(a - d), high.min(b - c)))
    }

    /// The range of a form, where it lies within `I32`: outside, the value wraps.
    pub(super) fn form_range(&self, form: &Form, env: &Env) -> Option<(i64, i64)> {
        let ends = |(low, high): (i128, i128)| {
            let fits = low >= i128::from(i32::MIN) && high <= i128::from(i32::MAX);
            fits.then_some((low as i64, high as i64))
        };
        let apart = ends(form.range(|term| self.term(term, env)));
        let together = self.floors.range_of_sum(form, env).and_then(ends);
        match (apart, together) {
            (Some((a, b)), Some((c, d))) => Some((a.max(c), b.min(d))),
            (one, other) => one.or(other),
        }
    }
    /// Adds what the next expression can be, with its form if it is an `I32`.
    pub(super) fn push(&mut self, range: Range, form: Option<Form>) {
        self.ranges.push(range);
        self.forms.push(form);
    }

    /// The form of a value of which nothing but its range is known; equal ones have one `number`.
    pub(super) fn opaque(&mut self, number: Expr, range: Range) -> Form {
        self.opaque.insert(number, range.ints());
        Form::var(Term::Opaque(number))
    }

    /// `floor(a / divisor)`, where `a` cannot wrap.
    pub(super) fn quotient(&mut self, a: Expr, divisor: i64, env: &Env) -> Option<Form> {
        let form = self.form(a)?.clone();
        self.form_range(&form, env)?;
        self.floors.divide(&form, divisor)
    }
}
