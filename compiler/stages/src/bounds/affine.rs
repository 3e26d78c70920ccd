//! Affine forms of index expressions: a constant plus multiples of dimensions and of the variables
//! of reduction domains, with floor division by a constant and clamping on top.

use std::collections::BTreeMap;
use std::fmt;

use cranelift_entity::SecondaryMap;

use crate::scalar::literal_word;
use crate::{BinaryOp, ElementType, Expr, ExprKind, Pipeline, RDom, UnaryOp};

use super::interval::Interval;

/// A variable of an affine form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AffineVar {
    /// Dimension `n` of the Func being defined.
    Dim(u32),
    /// Variable `n` of a reduction domain.
    RVar(RDom, u32),
}

/// `constant + sum of coefficient * term`. Coefficients are never zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Linear<T> {
    /// The constant part.
    pub constant: i64,
    /// The coefficient of each term that has one.
    pub terms: BTreeMap<T, i64>,
}

/// A linear form of variables.
pub type Affine = Linear<AffineVar>;

impl<T> Default for Linear<T> {
    fn default() -> Linear<T> {
        Linear { constant: 0, terms: BTreeMap::new() }
    }
}

impl<T: Ord + Copy> Linear<T> {
    /// A constant.
    pub fn constant(constant: i64) -> Linear<T> {
        Linear { constant, terms: BTreeMap::new() }
    }

    /// A term by itself.
    pub fn var(term: T) -> Linear<T> {
        Linear { constant: 0, terms: BTreeMap::from([(term, 1)]) }
    }

    /// Its value, where it has no term.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self * a + other * b`; `None` where a coefficient leaves 64 bits.
    pub fn combine(&self, a: i64, other: &Linear<T>, b: i64) -> Option<Linear<T>> {
        let mut sum = self.scale(a)?;
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(b)?)?;
        for (&term, &coefficient) in &other.terms {
            let slot = sum.terms.entry(term).or_insert(0);
            *slot = slot.checked_add(coefficient.checked_mul(b)?)?;
        }
        sum.terms.retain(|_, c| *c != 0);
        Some(sum)
    }

    /// `self * factor`; `None` where a coefficient leaves 64 bits.
    pub fn scale(&self, factor: i64) -> Option<Linear<T>> {
        if factor == 0 {
            return Some(Linear::default());
        }
        let mut terms = BTreeMap::new();
        for (&term, &coefficient) in &self.terms {
            terms.insert(term, coefficient.checked_mul(factor)?);
        }
        Some(Linear { constant: self.constant.checked_mul(factor)?, terms })
    }

    /// The least and greatest value where each term lies between the ends that `of` gives, one
    /// whatever the others are.
    pub fn range(&self, mut of: impl FnMut(T) -> (i64, i64)) -> (i128, i128) {
        let mut range = (i128::from(self.constant), i128::from(self.constant));
        for (&term, &c) in &self.terms {
            let (low, high) = of(term);
            let (c, low, high) = (i128::from(c), i128::from(low), i128::from(high));
            range.0 = range.0.saturating_add((c * low).min(c * high));
            range.1 = range.1.saturating_add((c * low).max(c * high));
        }
        range
    }
}

impl Affine {
    /// The coefficient of dimension `n` of the Func being defined.
    pub fn dim(&self, n: u32) -> i64 {
        self.terms.get(&AffineVar::Dim(n)).copied().unwrap_or(0)
    }

    /// The coefficient of variable `n` of a reduction domain.
    pub fn rvar(&self, rdom: RDom, n: u32) -> i64 {
        self.terms.get(&AffineVar::RVar(rdom, n)).copied().unwrap_or(0)
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (var, c) in &self.terms {
            match var {
                AffineVar::Dim(n) => write!(f, "{c}*d{n} + ")?,
                AffineVar::RVar(rdom, n) => write!(f, "{c}*{rdom}.{n} + ")?,
            }
        }
        write!(f, "{}", self.constant)
    }
}

/// The form of an index. Values are those of the expression wherever no intermediate result leaves
/// 32 bits, which holds for every index that stays within an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexForm {
    /// An affine form.
    Affine(Affine),
    /// `floor(numerator / divisor)`, the divisor at least 2.
    FloorDiv {
        /// What is divided.
        numerator: Affine,
        /// By what.
        divisor: i64,
    },
    /// `max(min(of, high), low)`, with `low <= high`.
    Clamp {
        /// What is clamped.
        of: Box<IndexForm>,
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
}

impl IndexForm {
    /// The affine form, where it is one.
    pub fn as_affine(&self) -> Option<&Affine> {
        match self {
            IndexForm::Affine(affine) => Some(affine),
            _ => None,
        }
    }

    /// Its range over intervals of the variables, exact.
    pub fn range(&self, of: impl FnMut(AffineVar) -> Interval) -> (i128, i128) {
        fn go(form: &IndexForm, of: &mut dyn FnMut(AffineVar) -> Interval) -> (i128, i128) {
            let mut ends = |affine: &Affine| {
                affine.range(|var| {
                    let interval = of(var);
                    (interval.min.into(), interval.max.into())
                })
            };
            match form {
                IndexForm::Affine(affine) => ends(affine),
                IndexForm::FloorDiv { numerator, divisor } => {
                    let (low, high) = ends(numerator);
                    let divisor = i128::from(*divisor);
                    (low.div_euclid(divisor), high.div_euclid(divisor))
                }
                IndexForm::Clamp { of: inner, low, high } => {
                    let inner = go(inner, of);
                    let clamp = |v: i128| v.clamp(i128::from(*low), i128::from(*high));
                    (clamp(inner.0), clamp(inner.1))
                }
            }
        }
        let mut of = of;
        go(self, &mut of)
    }
}

/// Clamps nest no deeper than this in a form; a deeper one has none.
const MAX_NESTING: u32 = 8;

/// The forms of all `I32` expressions of a pipeline. [`ExprKind::InputExtent`] and
/// [`ExprKind::Param`] have none: [`crate::specialize`] turns them into literals first.
pub fn index_forms(pipeline: &Pipeline) -> SecondaryMap<Expr, Option<IndexForm>> {
    let mut forms = SecondaryMap::with_capacity(pipeline.exprs.len());
    for expr in pipeline.exprs.keys() {
        let form = form_of(pipeline, &forms, expr);
        if form.is_some() {
            forms[expr] = form;
        }
    }
    forms
}

/// The form of one index expression; see [`index_forms`], which is better where many are wanted.
pub fn affine_of(pipeline: &Pipeline, expr: Expr) -> Option<IndexForm> {
    let mut forms = SecondaryMap::new();
    for expr in crate::Walker::once(pipeline, [expr]) {
        forms[expr] = form_of(pipeline, &forms, expr);
    }
    forms[expr].take()
}

fn form_of(
    pipeline: &Pipeline,
    forms: &SecondaryMap<Expr, Option<IndexForm>>,
    expr: Expr,
) -> Option<IndexForm> {
    let data = &pipeline.exprs[expr];
    if data.ty != ElementType::I32 {
        return None;
    }
    let form = |e: Expr| forms[e].as_ref();
    let constant = |e: Expr| form(e)?.as_affine()?.as_constant();
    match &data.kind {
        ExprKind::Literal(literal) => {
            let value = literal_word(data.ty, *literal) as i32;
            Some(IndexForm::Affine(Affine::constant(value.into())))
        }
        ExprKind::Dim(n) => Some(IndexForm::Affine(Affine::var(AffineVar::Dim(*n)))),
        ExprKind::RVar(rdom, n) => Some(IndexForm::Affine(Affine::var(AffineVar::RVar(*rdom, *n)))),
        ExprKind::Unary(UnaryOp::Neg, a) => {
            Some(IndexForm::Affine(form(*a)?.as_affine()?.scale(-1)?))
        }
        ExprKind::Cast(a) if pipeline.ty(*a) == ElementType::I32 => form(*a).cloned(),
        ExprKind::Binary(op, a, b) => match op {
            BinaryOp::Add => sum(form(*a)?, 1, form(*b)?, 1),
            BinaryOp::Sub => sum(form(*a)?, 1, form(*b)?, -1),
            BinaryOp::Mul => match (constant(*a), constant(*b)) {
                (_, Some(c)) => Some(IndexForm::Affine(form(*a)?.as_affine()?.scale(c)?)),
                (Some(c), _) => Some(IndexForm::Affine(form(*b)?.as_affine()?.scale(c)?)),
                _ => None,
            },
            BinaryOp::Div => divide(form(*a)?, constant(*b)?),
            BinaryOp::Shr => match constant(*b)? {
                amount @ 0..=30 => divide(form(*a)?, 1 << amount),
                _ => None,
            },
            BinaryOp::Shl => match constant(*b)? {
                amount @ 0..=30 => {
                    Some(IndexForm::Affine(form(*a)?.as_affine()?.scale(1 << amount)?))
                }
                _ => None,
            },
            BinaryOp::Min => match (constant(*a), constant(*b)) {
                (_, Some(c)) => clamp(form(*a)?, i64::MIN, c),
                (Some(c), _) => clamp(form(*b)?, i64::MIN, c),
                _ => None,
            },
            BinaryOp::Max => match (constant(*a), constant(*b)) {
                (_, Some(c)) => clamp(form(*a)?, c, i64::MAX),
                (Some(c), _) => clamp(form(*b)?, c, i64::MAX),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn floor_div(numerator: Affine, divisor: i64) -> IndexForm {
    let whole =
        numerator.constant % divisor == 0 && numerator.terms.values().all(|c| c % divisor == 0);
    if whole {
        let terms = numerator.terms.into_iter().map(|(v, c)| (v, c / divisor)).collect();
        return IndexForm::Affine(Affine { constant: numerator.constant / divisor, terms });
    }
    IndexForm::FloorDiv { numerator, divisor }
}

/// `a * sa + b * sb`, the factors 1 or -1. An affine form goes into the numerator of a division.
fn sum(a: &IndexForm, sa: i64, b: &IndexForm, sb: i64) -> Option<IndexForm> {
    match (a, b) {
        (IndexForm::Affine(a), IndexForm::Affine(b)) => {
            Some(IndexForm::Affine(a.combine(sa, b, sb)?))
        }
        (IndexForm::FloorDiv { numerator, divisor }, IndexForm::Affine(b)) if sa == 1 => {
            Some(floor_div(numerator.combine(1, b, divisor.checked_mul(sb)?)?, *divisor))
        }
        (IndexForm::Affine(a), IndexForm::FloorDiv { numerator, divisor }) if sb == 1 => {
            Some(floor_div(numerator.combine(1, a, divisor.checked_mul(sa)?)?, *divisor))
        }
        (IndexForm::Clamp { of, low, high }, IndexForm::Affine(b)) if sa == 1 => {
            let c = b.as_constant()?.checked_mul(sb)?;
            Some(IndexForm::Clamp {
                of: Box::new(sum(of, 1, &IndexForm::Affine(Affine::constant(c)), 1)?),
                low: shifted(*low, c)?,
                high: shifted(*high, c)?,
            })
        }
        (IndexForm::Affine(_), IndexForm::Clamp { .. }) if sb == 1 && sa == 1 => sum(b, 1, a, 1),
        _ => None,
    }
}

/// A limit of a clamp moved by `c`; the ends of 64 bits stand for no limit.
fn shifted(limit: i64, c: i64) -> Option<i64> {
    if limit == i64::MIN || limit == i64::MAX { Some(limit) } else { limit.checked_add(c) }
}

fn divide(a: &IndexForm, divisor: i64) -> Option<IndexForm> {
    if divisor < 1 {
        return None;
    }
    match a {
        IndexForm::Affine(numerator) => Some(floor_div(numerator.clone(), divisor)),
        IndexForm::FloorDiv { numerator, divisor: inner } => {
            Some(floor_div(numerator.clone(), inner.checked_mul(divisor)?))
        }
        IndexForm::Clamp { .. } if divisor == 1 => Some(a.clone()),
        IndexForm::Clamp { .. } => None,
    }
}

fn clamp(a: &IndexForm, low: i64, high: i64) -> Option<IndexForm> {
    if let Some(c) = a.as_affine().and_then(Affine::as_constant) {
        return Some(IndexForm::Affine(Affine::constant(c.min(high).max(low))));
    }
    match a {
        // Limits that do not cross can be merged in any order.
        IndexForm::Clamp { of, low: l, high: h } if (*l).max(low) <= (*h).min(high) => {
            Some(IndexForm::Clamp { of: of.clone(), low: low.max(*l), high: high.min(*h) })
        }
        _ if nesting(a) < MAX_NESTING => {
            Some(IndexForm::Clamp { of: Box::new(a.clone()), low, high })
        }
        _ => None,
    }
}

fn nesting(form: &IndexForm) -> u32 {
    match form {
        IndexForm::Clamp { of, .. } => 1 + nesting(of),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Literal;
    use nbcc_base::Span;

    fn int(p: &mut Pipeline, v: i64) -> Expr {
        p.expr(ExprKind::Literal(Literal::Int(v)), ElementType::I32, Span::default())
    }

    fn op(p: &mut Pipeline, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        p.expr(ExprKind::Binary(op, a, b), ElementType::I32, Span::default())
    }

    #[test]
    fn sums_move_into_numerators() {
        let mut p = Pipeline::default();
        let x = p.expr(ExprKind::Dim(0), ElementType::I32, Span::default());
        let (one, two, five) = (int(&mut p, 1), int(&mut p, 2), int(&mut p, 5));
        let more = op(&mut p, BinaryOp::Add, x, one);
        let half = op(&mut p, BinaryOp::Div, more, two);
        let less = op(&mut p, BinaryOp::Sub, half, five);
        let numerator = Affine { constant: -9, terms: BTreeMap::from([(AffineVar::Dim(0), 1)]) };
        assert_eq!(affine_of(&p, less), Some(IndexForm::FloorDiv { numerator, divisor: 2 }));
        let twice = op(&mut p, BinaryOp::Mul, more, two);
        let back = op(&mut p, BinaryOp::Div, twice, two);
        assert_eq!(affine_of(&p, back), affine_of(&p, more));
    }

    #[test]
    fn clamps_wrap_what_they_clamp() {
        let mut p = Pipeline::default();
        let x = p.expr(ExprKind::Dim(0), ElementType::I32, Span::default());
        let (zero, nine) = (int(&mut p, 0), int(&mut p, 9));
        let low = op(&mut p, BinaryOp::Min, x, nine);
        let both = op(&mut p, BinaryOp::Max, low, zero);
        let form = affine_of(&p, both).unwrap();
        let of = Box::new(IndexForm::Affine(Affine::var(AffineVar::Dim(0))));
        assert_eq!(form, IndexForm::Clamp { of, low: 0, high: 9 });
        assert_eq!(form.range(|_| Interval::new(-3, 4)), (0, 4));
        let product = op(&mut p, BinaryOp::Mul, x, x);
        assert_eq!(affine_of(&p, product), None);
    }
}
