//! Intervals of coordinates, and ranges of values with the arithmetic of the language.
//!
//! Every operation is sound for wrapping integers: a result that might leave its type's range
//! becomes the whole range. Float ends are computed in the type's own rounding, which is monotone.
//! Not-a-number is left out of account, as in Halide.

use crate::scalar;
use crate::{BinaryOp, CompareOp, ElementType, Intrinsic, UnaryOp};

/// Coordinates from `min` to `max`, both included. Empty where `max < min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first coordinate.
    pub min: i32,
    /// The last coordinate.
    pub max: i32,
}

impl Interval {
    /// From `min` to `max`, both included.
    pub fn new(min: i32, max: i32) -> Interval {
        Interval { min, max }
    }

    /// `extent` coordinates from `min`; saturates at the greatest coordinate.
    pub fn from_extent(min: i32, extent: u32) -> Interval {
        let max = i64::from(min) + i64::from(extent) - 1;
        Interval { min, max: max.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 }
    }

    /// The number of coordinates; saturates at `u32::MAX`.
    pub fn extent(self) -> u32 {
        (i64::from(self.max) - i64::from(self.min) + 1).clamp(0, i64::from(u32::MAX)) as u32
    }

    /// Whether it has no coordinate.
    pub fn is_empty(self) -> bool {
        self.max < self.min
    }

    /// The smallest interval that covers both.
    pub fn union(self, other: Interval) -> Interval {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Interval { min: self.min.min(other.min), max: self.max.max(other.max) }
        }
    }

    /// As far away as `by` says; ends stay where coordinates end.
    pub fn moved(self, by: i32) -> Interval {
        Interval { min: self.min.saturating_add(by), max: self.max.saturating_add(by) }
    }

    /// Whether every coordinate of `other` is one of this.
    pub fn contains(self, other: Interval) -> bool {
        other.is_empty() || (self.min <= other.min && other.max <= self.max)
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..={}", self.min, self.max)
    }
}

/// A box of coordinates, an interval a dimension.
pub type Region = Vec<Interval>;

/// A region for people: `[-1..=8] x [0..=3]`.
pub fn region_text(region: &[Interval]) -> String {
    if region.is_empty() {
        return "one element".to_string();
    }
    region.iter().map(|i| format!("[{i}]")).collect::<Vec<_>>().join(" x ")
}

/// A Func of more elements is refused.
pub const MAX_POINTS: u64 = 1 << 30;

/// A coordinate beyond this in size counts as unbounded.
pub const MAX_COORDINATE: i32 = 1 << 30;

/// The first dimension in which a region has no useful limit.
pub fn unbounded(region: &[Interval]) -> Option<usize> {
    region.iter().position(|i| i.min < -MAX_COORDINATE || i.max > MAX_COORDINATE)
}

/// The number of points of a region, saturating.
pub fn points(region: &[Interval]) -> u64 {
    region.iter().fold(1u64, |n, i| n.saturating_mul(u64::from(i.extent())))
}

/// The values an expression can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// An integer or Bool from the first to the second, both included.
    Int(i64, i64),
    /// A float from the first to the second, both included; they may be infinite.
    Float(f32, f32),
}

impl Range {
    /// Every value of a type.
    pub fn full(ty: ElementType) -> Range {
        if ty.is_float() {
            Range::Float(f32::NEG_INFINITY, f32::INFINITY)
        } else {
            let (low, high) = ty.integer_range();
            Range::Int(low, high)
        }
    }

    /// The one value that a word of a type stands for.
    pub fn point(ty: ElementType, word: u32) -> Range {
        if ty.is_float() {
            float(f32::from_bits(word), f32::from_bits(word))
        } else {
            let value = scalar::to_i64(ty, word);
            Range::Int(value, value)
        }
    }

    /// The ends of an integer range. Panics on a float's.
    pub fn ints(self) -> (i64, i64) {
        match self {
            Range::Int(low, high) => (low, high),
            Range::Float(..) => panic!("a range of floats where integers were expected"),
        }
    }

    fn floats(self) -> (f32, f32) {
        match self {
            Range::Float(low, high) => (low, high),
            Range::Int(..) => panic!("a range of integers where floats were expected"),
        }
    }

    /// The one value of an integer range, where it has only one.
    pub fn single(self) -> Option<i64> {
        match self {
            Range::Int(low, high) if low == high => Some(low),
            _ => None,
        }
    }

    /// The smallest range that covers both.
    pub fn union(self, other: Range) -> Range {
        match (self, other) {
            (Range::Int(a, b), Range::Int(c, d)) => Range::Int(a.min(c), b.max(d)),
            (Range::Float(a, b), Range::Float(c, d)) => Range::Float(a.min(c), b.max(d)),
            _ => panic!("ranges of different types joined"),
        }
    }
}

/// `low..=high` where both lie in the type's range, else the whole range: the value may wrap.
pub(super) fn wrapped(ty: ElementType, low: i128, high: i128) -> Range {
    let (least, greatest) = ty.integer_range();
    if low >= i128::from(least) && high <= i128::from(greatest) {
        Range::Int(low as i64, high as i64)
    } else {
        Range::Int(least, greatest)
    }
}

fn float(low: f32, high: f32) -> Range {
    if low.is_nan() || high.is_nan() {
        Range::full(ElementType::F32)
    } else {
        Range::Float(low, high)
    }
}

/// The hull of a function at the four corners of two ranges.
fn corners(a: (i64, i64), b: (i64, i64), f: impl Fn(i128, i128) -> i128) -> (i128, i128) {
    let at = |x: i64, y: i64| f(i128::from(x), i128::from(y));
    let all = [at(a.0, b.0), at(a.0, b.1), at(a.1, b.0), at(a.1, b.1)];
    (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
}

fn float_corners(a: (f32, f32), b: (f32, f32), f: impl Fn(f32, f32) -> f32) -> Range {
    let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
    if all.iter().any(|v| v.is_nan()) {
        return Range::full(ElementType::F32);
    }
    float(
        all.into_iter().fold(f32::INFINITY, f32::min),
        all.into_iter().fold(f32::NEG_INFINITY, f32::max),
    )
}

/// One operand, result of type `ty`.
pub(super) fn unary(op: UnaryOp, ty: ElementType, a: Range) -> Range {
    match (op, a) {
        (UnaryOp::Neg, Range::Float(low, high)) => float(0.0 - high, 0.0 - low),
        (UnaryOp::Neg, Range::Int(low, high)) => wrapped(ty, -i128::from(high), -i128::from(low)),
        (UnaryOp::Not, Range::Int(low, high)) => Range::Int(1 - high, 1 - low),
        (UnaryOp::BitNot, Range::Int(low, high)) => {
            let (least, greatest) = ty.integer_range();
            Range::Int(least + greatest - high, least + greatest - low)
        }
        (UnaryOp::Abs, Range::Float(low, high)) if low >= 0.0 => float(low, high),
        (UnaryOp::Abs, Range::Float(low, high)) if high <= 0.0 => float(-high, -low),
        (UnaryOp::Abs, Range::Float(low, high)) => float(0.0, high.max(-low)),
        (UnaryOp::Abs, Range::Int(low, high)) if low >= 0 => Range::Int(low, high),
        (UnaryOp::Abs, Range::Int(low, high)) if high <= 0 => Range::Int(-high, -low),
        (UnaryOp::Abs, Range::Int(low, high)) => Range::Int(0, high.max(-low)),
        (UnaryOp::Not | UnaryOp::BitNot, Range::Float(..)) => panic!("{op:?} of a float"),
    }
}

/// Two operands of type `ty`.
pub(super) fn binary(op: BinaryOp, ty: ElementType, a: Range, b: Range) -> Range {
    if ty.is_float() {
        return binary_float(op, a.floats(), b.floats());
    }
    let (x, y) = (a.ints(), b.ints());
    let hull = |(low, high): (i128, i128)| wrapped(ty, low, high);
    match op {
        BinaryOp::Add => hull(corners(x, y, |a, b| a + b)),
        BinaryOp::Sub => hull(corners(x, y, |a, b| a - b)),
        BinaryOp::Mul => hull(corners(x, y, |a, b| a * b)),
        BinaryOp::Div => divide(ty, x, y),
        BinaryOp::Mod => modulo(x, y),
        BinaryOp::Min => Range::Int(x.0.min(y.0), x.1.min(y.1)),
        BinaryOp::Max => Range::Int(x.0.max(y.0), x.1.max(y.1)),
        BinaryOp::And if x.0 >= 0 && y.0 >= 0 => Range::Int(0, x.1.min(y.1)),
        BinaryOp::And if x.0 >= 0 => Range::Int(0, x.1),
        BinaryOp::And if y.0 >= 0 => Range::Int(0, y.1),
        BinaryOp::Or if x.0 >= 0 && y.0 >= 0 => Range::Int(x.0.max(y.0), ones_above(x.1 | y.1)),
        BinaryOp::Xor if x.0 >= 0 && y.0 >= 0 => Range::Int(0, ones_above(x.1 | y.1)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Range::full(ty),
        BinaryOp::Shl if y.0 >= 0 && y.1 < 32 => hull(corners(x, y, |a, b| a << b)),
        BinaryOp::Shr if y.0 >= 0 => hull(corners(x, y, |a, b| a >> b.min(63))),
        BinaryOp::Shl | BinaryOp::Shr => Range::full(ty),
    }
}

/// The least number of the form 2^n - 1 that is not below `value`.
fn ones_above(value: i64) -> i64 {
    if value <= 0 { 0 } else { i64::MAX >> (value.leading_zeros() - 1) }
}

fn divide(ty: ElementType, x: (i64, i64), y: (i64, i64)) -> Range {
    let quotient = |a: i128, b: i128| a.div_euclid(b);
    let mut parts = Vec::new();
    if y.0 < 0 {
        parts.push(corners(x, (y.0, y.1.min(-1)), quotient));
    }
    if y.0 <= 0 && y.1 >= 0 {
        parts.push((0, 0));
    }
    if y.1 > 0 {
        parts.push(corners(x, (y.0.max(1), y.1), quotient));
    }
    let low = parts.iter().map(|p| p.0).min().unwrap_or(0);
    let high = parts.iter().map(|p| p.1).max().unwrap_or(0);
    wrapped(ty, low, high)
}

fn modulo(x: (i64, i64), y: (i64, i64)) -> Range {
    let largest = y.0.abs().max(y.1.abs());
    if largest == 0 {
        return Range::Int(0, 0);
    }
    if y.0 == y.1 && x.0.div_euclid(largest) == x.1.div_euclid(largest) {
        return Range::Int(x.0.rem_euclid(largest), x.1.rem_euclid(largest));
    }
    let high = if x.0 >= 0 { x.1.min(largest - 1) } else { largest - 1 };
    Range::Int(0, high)
}

fn binary_float(op: BinaryOp, x: (f32, f32), y: (f32, f32)) -> Range {
    match op {
        BinaryOp::Add => float(x.0 + y.0, x.1 + y.1),
        BinaryOp::Sub => float(x.0 - y.1, x.1 - y.0),
        BinaryOp::Mul => float_corners(x, y, |a, b| a * b),
        BinaryOp::Div if y.0 > 0.0 || y.1 < 0.0 => float_corners(x, y, |a, b| a / b),
        BinaryOp::Min => float(x.0.min(y.0), x.1.min(y.1)),
        BinaryOp::Max => float(x.0.max(y.0), x.1.max(y.1)),
        _ => Range::full(ElementType::F32),
    }
}

/// A comparison of two operands.
pub(super) fn compare(op: CompareOp, a: Range, b: Range) -> Range {
    fn decide<T: PartialOrd + Copy>(op: CompareOp, a: (T, T), b: (T, T)) -> Option<bool> {
        let (always, never) = match op {
            CompareOp::Lt => (a.1 < b.0, a.0 >= b.1),
            CompareOp::Le => (a.1 <= b.0, a.0 > b.1),
            CompareOp::Gt => (a.0 > b.1, a.1 <= b.0),
            CompareOp::Ge => (a.0 >= b.1, a.1 < b.0),
            CompareOp::Eq => (false, a.1 < b.0 || b.1 < a.0),
            CompareOp::Ne => (a.1 < b.0 || b.1 < a.0, false),
        };
        if always {
            Some(true)
        } else if never {
            Some(false)
        } else {
            None
        }
    }
    let known = match (a, b) {
        (Range::Int(..), Range::Int(..)) => match (op, a.single(), b.single()) {
            (CompareOp::Eq, Some(x), Some(y)) => Some(x == y),
            (CompareOp::Ne, Some(x), Some(y)) => Some(x != y),
            _ => decide(op, a.ints(), b.ints()),
        },
        // A comparison with what is not a number can go either way.
        _ => None,
    };
    match known {
        Some(value) => Range::Int(value.into(), value.into()),
        None => Range::Int(0, 1),
    }
}

/// A conversion from `from` to `to`.
pub(super) fn cast(to: ElementType, from: ElementType, a: Range) -> Range {
    match a {
        _ if to == from => a,
        Range::Int(low, high) if to == ElementType::Bool && low == high => {
            Range::Int(low & 1, low & 1)
        }
        _ if to == ElementType::Bool => Range::Int(0, 1),
        Range::Int(low, high) if to.is_float() => float(low as f32, high as f32),
        Range::Int(low, high) => wrapped(to, low.into(), high.into()),
        Range::Float(low, high) => {
            if low.abs() < 4294967296.0 && high.abs() < 4294967296.0 {
                wrapped(to, low as i128, high as i128)
            } else {
                Range::full(to)
            }
        }
    }
}

/// The same bits as another type of the same width.
pub(super) fn reinterpret(to: ElementType, from: ElementType, a: Range) -> Range {
    match a {
        _ if to == from => a,
        Range::Int(low, high) if !to.is_float() && low >= 0 => wrapped(to, low.into(), high.into()),
        _ => Range::full(to),
    }
}

/// A function of floats.
pub(super) fn intrinsic(op: Intrinsic, args: &[Range]) -> Range {
    let (low, high) = args[0].floats();
    let increasing = || float(scalar::intrinsic(op, low, 0.0), scalar::intrinsic(op, high, 0.0));
    match op {
        Intrinsic::Floor
        | Intrinsic::Ceil
        | Intrinsic::Round
        | Intrinsic::Trunc
        | Intrinsic::Exp
        | Intrinsic::Atan
        | Intrinsic::Sinh
        | Intrinsic::Tanh => increasing(),
        Intrinsic::Sqrt if low >= 0.0 => increasing(),
        Intrinsic::Log if low > 0.0 => increasing(),
        Intrinsic::Sqrt => float(0.0, scalar::intrinsic(op, high.max(0.0), 0.0)),
        Intrinsic::Sin | Intrinsic::Cos => Range::Float(-1.0, 1.0),
        Intrinsic::FastExp | Intrinsic::Cosh => Range::Float(0.0, f32::INFINITY),
        Intrinsic::Pow | Intrinsic::FastPow if low > 0.0 => Range::Float(0.0, f32::INFINITY),
        _ => Range::full(ElementType::F32),
    }
}
