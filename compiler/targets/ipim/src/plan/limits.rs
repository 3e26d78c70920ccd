//! Coordinates that are brought into an image, and what is read in place of what lies beyond it.
//! Those that go around (`wrapped`) have no limits: what lies beyond an edge is what lies at the other
//! one.

use nbcc_stages::bounds::{Affine, Interval, MAX_COORDINATE};
use nbcc_stages::{BinaryOp, Expr, ExprKind, Pipeline};

use super::forms::Forms;
use super::modes::same;

/// What is read beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Beyond {
    /// The element at the limit.
    Repeated,
    /// The elements inside in reverse, that at the limit first.
    Mirrored,
    /// The elements inside in reverse, that behind the limit first.
    MirroredInterior,
}

/// The least and greatest coordinate along a dimension that is read itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limits {
    /// The least.
    pub low: i64,
    /// The greatest.
    pub high: i64,
    /// What is read beyond them.
    pub beyond: Beyond,
}

impl Limits {
    /// Limits that coordinates are clamped to.
    pub fn clamp(low: i64, high: i64) -> Limits {
        Limits { low, high, beyond: Beyond::Repeated }
    }

    /// The limits of what is held, in coordinates that count from `start`.
    pub fn held(self, held: Interval, start: i64) -> Limits {
        let local = |at: i64| at.clamp(held.min.into(), held.max.into()) - start;
        match self.beyond {
            Beyond::Repeated => Limits { low: local(self.low), high: local(self.high), ..self },
            _ => Limits { low: self.low - start, high: self.high - start, ..self },
        }
    }

    /// Where elements beyond the limits are mirrored: the sum of a coordinate and of that which is
    /// read in its place, beyond the lower and beyond the upper limit.
    pub fn sums(self) -> Option<[i64; 2]> {
        match self.beyond {
            Beyond::Repeated => None,
            Beyond::Mirrored => Some([2 * self.low - 1, 2 * self.high + 1]),
            Beyond::MirroredInterior => Some([2 * self.low, 2 * self.high]),
        }
    }
}

/// Reads an index that is brought into constant limits by `min` and `max`: what is brought there once a
/// constant is added, that constant, and the limits, if there are any.
pub fn clamped(pipeline: &Pipeline, forms: &Forms, index: Expr) -> (Expr, i64, Option<Limits>) {
    let (mut of, mut added, mut low, mut high) = (index, 0i64, i64::MIN, i64::MAX);
    loop {
        let split = |op: BinaryOp| {
            let (inner, number) = with_constant(pipeline, forms, of, op)?;
            (number.abs() <= MAX_COORDINATE.into()).then_some((inner, number))
        };
        let limit = |op: BinaryOp| split(op).map(|(inner, number)| (inner, number + added));
        // Outer limits count where inner ones lie beyond them.
        if let Some((inner, limit)) = limit(BinaryOp::Min).filter(|(_, limit)| *limit >= low) {
            (of, high) = (inner, high.min(limit));
        } else if let Some((inner, limit)) =
            limit(BinaryOp::Max).filter(|(_, limit)| *limit <= high)
        {
            (of, low) = (inner, low.max(limit));
        } else if let Some((inner, number)) = split(BinaryOp::Add) {
            (of, added) = (inner, added + number);
        } else if let Some((a, b)) = operands(pipeline, of, BinaryOp::Sub)
            && let Some(number) = constant(forms, b)
        {
            (of, added) = (a, added - number);
        } else {
            let limited = (low, high) != (i64::MIN, i64::MAX);
            return (of, added, limited.then(|| Limits::clamp(low, high)));
        }
    }
}

/// Reads an index that is mirrored at two limits as `mirror_image` and `mirror_interior` do: with `p`
/// the remainder of a coordinate by a period, `min(min(p, top - p), last)`. The coordinate, counted
/// from the lower limit, and the limits.
pub fn mirrored(pipeline: &Pipeline, forms: &Forms, index: Expr) -> Option<(Expr, Limits)> {
    let constant = |e: Expr| constant(forms, e);
    let of = |e: Expr, op: BinaryOp| operands(pipeline, e, op);
    let split = |e: Expr, op: BinaryOp| with_constant(pipeline, forms, e, op);
    let (index, low) = split(index, BinaryOp::Add).unwrap_or((index, 0));
    let (folded, last) = split(index, BinaryOp::Min)?;
    let (a, b) = of(folded, BinaryOp::Min)?;
    let fold = |phase: Expr, back: Expr| {
        let (coordinate, period) = of(phase, BinaryOp::Mod)?;
        let (period, (top, other)) = (constant(period)?, of(back, BinaryOp::Sub)?);
        let beyond = match (constant(top)?, period) {
            (top, period) if top == 2 * last + 1 && period == top + 1 => Beyond::Mirrored,
            (top, period) if top == 2 * last && period == top => Beyond::MirroredInterior,
            _ => return None,
        };
        let limits = Limits { low, high: low.checked_add(last)?, beyond };
        (last >= 1 && same(pipeline, &[phase], &[other])).then_some((coordinate, limits))
    };
    fold(a, b).or_else(|| fold(b, a))
}

/// The coordinates that an index goes around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Around {
    /// The least.
    pub first: i64,
    /// How many there are.
    pub count: i64,
}

impl Around {
    /// The greatest.
    pub fn last(self) -> i64 {
        self.first + self.count - 1
    }
}

/// Reads an index that goes around, as that of `repeat_image` does: `(x - first) % count + first`. A
/// coordinate, what is added to it, and where the sum goes around.
pub fn wrapped(pipeline: &Pipeline, forms: &Forms, index: Expr) -> Option<(Expr, i64, Around)> {
    let split = |e: Expr| with_constant(pipeline, forms, e, BinaryOp::Add);
    let (phase, first) = split(index).unwrap_or((index, 0));
    let (coordinate, count) = operands(pipeline, phase, BinaryOp::Mod)?;
    let count = constant(forms, count).filter(|&count| count > 0)?;
    let around = Around { first, count };
    if forms[coordinate].is_some() {
        return Some((coordinate, first, around));
    }
    // What goes around already goes on from there.
    let (inner, offset) = split(coordinate).unwrap_or((coordinate, 0));
    let (coordinate, more, same) = wrapped(pipeline, forms, inner)?;
    let offset = first.checked_add(offset)?.checked_add(more)?;
    (same.count == count).then_some((coordinate, offset, around))
}

fn constant(forms: &Forms, e: Expr) -> Option<i64> {
    forms[e].as_ref()?.as_affine().and_then(Affine::as_constant)
}

fn operands(pipeline: &Pipeline, e: Expr, op: BinaryOp) -> Option<(Expr, Expr)> {
    match pipeline.exprs[e].kind {
        ExprKind::Binary(other, a, b) if other == op => Some((a, b)),
        _ => None,
    }
}

/// A constant operand and the other one, in either order.
fn with_constant(pipeline: &Pipeline, forms: &Forms, e: Expr, op: BinaryOp) -> Option<(Expr, i64)> {
    let (a, b) = operands(pipeline, e, op)?;
    let one = |a: Expr, b: Expr| Some((a, constant(forms, b)?));
    one(a, b).or_else(|| one(b, a))
}
