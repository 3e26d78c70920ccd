//! Floats as exact products of integers and powers of two, and rounding to a format in any
//! direction: no native float arithmetic takes part. Sums keep their low bits by 'jamming' (Hauser,
//! SoftFloat): a bit below all that count says that something is there.

use nbcc_ir::{FloatFormat, Rounding};

/// A format's widths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Bits of the significand, the hidden one included.
    pub precision: u32,
    /// Bits of the exponent.
    pub exponent: u32,
    /// The NaN that operations make.
    pub nan: u64,
}

/// The layout of a format that is not packed.
pub(super) fn layout(format: FloatFormat) -> Layout {
    let (precision, exponent, nan) = match format {
        FloatFormat::F16 | FloatFormat::F16x2 => (11, 5, 0x7fff),
        FloatFormat::Bf16 | FloatFormat::Bf16x2 => (8, 8, 0x7fff),
        FloatFormat::F32 => (24, 8, 0x7fff_ffff),
        FloatFormat::F64 => (53, 11, 0x7ff8 << 48),
    };
    Layout { precision, exponent, nan }
}

impl Layout {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.precision + self.exponent - 1)
    }

    /// Infinity.
    pub fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << (self.precision - 1)
    }

    /// One.
    pub fn one(self) -> u64 {
        (self.bias() as u64) << (self.precision - 1)
    }

    /// Whether bits are those of a NaN.
    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    /// Whether bits are those of a subnormal.
    pub fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & !self.sign();
        magnitude != 0 && magnitude < 1 << (self.precision - 1)
    }

    /// Zero of the same sign instead of a subnormal.
    pub fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }
}

/// What bits stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Nan,
    /// With its sign.
    Infinite(bool),
    Finite(Exact),
}

/// `(-1)^negative * mantissa * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    pub negative: bool,
    pub mantissa: u128,
    pub exponent: i32,
}

/// Reads bits.
pub(super) fn unpack(layout: Layout, bits: u64) -> Number {
    let negative = bits & layout.sign() != 0;
    let magnitude = bits & !layout.sign();
    if magnitude > layout.infinity() {
        return Number::Nan;
    }
    if magnitude == layout.infinity() {
        return Number::Infinite(negative);
    }
    let field = (magnitude >> (layout.precision - 1)) as i32;
    let fraction = u128::from(magnitude & ((1 << (layout.precision - 1)) - 1));
    let least = 1 - layout.bias() - (layout.precision as i32 - 1);
    let (mantissa, exponent) = match field {
        0 => (fraction, least),
        _ => (fraction | 1 << (layout.precision - 1), least + field - 1),
    };
    Number::Finite(Exact { negative, mantissa, exponent })
}

/// How the part below the last bit decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Directed(Rounding),
    /// To nearest, ties away from zero.
    Away,
}

/// Whether a remainder takes the magnitude one up. `remainder` and `half` compare it with a tie.
fn rounds_up(
    mode: Mode,
    negative: bool,
    odd: bool,
    inexact: bool,
    half: std::cmp::Ordering,
) -> bool {
    use std::cmp::Ordering::*;
    match mode {
        Mode::Away => half != Less,
        Mode::Directed(Rounding::Rn) => half == Greater || (half == Equal && odd),
        Mode::Directed(Rounding::Rz) => false,
        Mode::Directed(Rounding::Rm) => inexact && negative,
        Mode::Directed(Rounding::Rp) => inexact && !negative,
    }
}

/// `mantissa >> shift`, rounded.
fn shift_right(mode: Mode, negative: bool, mantissa: u128, shift: u32) -> u128 {
    if shift == 0 {
        return mantissa;
    }
    let (quotient, remainder) = match shift {
        1..=127 => (mantissa >> shift, mantissa & ((1 << shift) - 1)),
        _ => (0, mantissa),
    };
    let half = match shift {
        1..=128 => remainder.cmp(&(1u128 << (shift - 1))),
        _ => std::cmp::Ordering::Less,
    };
    let odd = quotient & 1 == 1;
    quotient + u128::from(rounds_up(mode, negative, odd, remainder != 0, half))
}

/// The float nearest in the given direction. A mantissa whose low bit is jammed needs two bits
/// more than the format's precision.
pub(super) fn round(layout: Layout, mode: Mode, x: Exact) -> u64 {
    let sign = if x.negative { layout.sign() } else { 0 };
    if x.mantissa == 0 {
        return sign;
    }
    let precision = layout.precision as i32;
    let top = x.exponent + 127 - x.mantissa.leading_zeros() as i32;
    let emin = 1 - layout.bias();
    let last = top.max(emin) - (precision - 1);
    let shift = last - x.exponent;
    let mantissa = match shift {
        ..0 => x.mantissa << -shift,
        _ => shift_right(mode, x.negative, x.mantissa, shift as u32),
    };
    // The exponent field less one, to which the hidden bit of the mantissa adds one; a carry out of
    // the mantissa does, too.
    let field = last + precision - 1 - emin;
    let magnitude = ((field as u128) << (precision - 1)) + mantissa;
    if magnitude < u128::from(layout.infinity()) {
        return sign | magnitude as u64;
    }
    let infinite = match mode {
        Mode::Away | Mode::Directed(Rounding::Rn) => true,
        Mode::Directed(Rounding::Rz) => false,
        Mode::Directed(Rounding::Rm) => x.negative,
        Mode::Directed(Rounding::Rp) => !x.negative,
    };
    sign | if infinite { layout.infinity() } else { layout.infinity() - 1 }
}

/// The integer nearest in the given direction, clamped to 100 bits and a sign.
pub(super) fn to_integer(mode: Mode, x: Exact) -> i128 {
    let magnitude = match x.exponent {
        0.. if x.mantissa == 0 => 0,
        0.. if x.exponent + 128 - x.mantissa.leading_zeros() as i32 > 100 => 1 << 100,
        0.. => x.mantissa << x.exponent,
        _ => shift_right(mode, x.negative, x.mantissa, x.exponent.unsigned_abs()),
    };
    let magnitude = magnitude.min(1 << 100) as i128;
    if x.negative { -magnitude } else { magnitude }
}

/// 256 bits: high and low half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wide(u128, u128);

impl Wide {
    fn shift_left(self, n: u32) -> Wide {
        match n {
            0 => self,
            1..=127 => Wide(self.0 << n | self.1 >> (128 - n), self.1 << n),
            128..=255 => Wide(self.1 << (n - 128), 0),
            _ => Wide(0, 0),
        }
    }

    /// Shifted right; the lowest bit says, too, whether bits were lost.
    fn shift_right_jam(self, n: u32) -> Wide {
        let (kept, lost) = match n {
            0 => (self, false),
            1..=127 => {
                let low = self.0 << (128 - n) | self.1 >> n;
                (Wide(self.0 >> n, low), self.1 << (128 - n) != 0)
            }
            128 => (Wide(0, self.0), self.1 != 0),
            129..=255 => (Wide(0, self.0 >> (n - 128)), self.0 << (256 - n) != 0 || self.1 != 0),
            _ => (Wide(0, 0), self.0 != 0 || self.1 != 0),
        };
        Wide(kept.0, kept.1 | u128::from(lost))
    }

    fn add(self, other: Wide) -> Wide {
        let (low, carry) = self.1.overflowing_add(other.1);
        Wide(self.0 + other.0 + u128::from(carry), low)
    }

    /// The difference; `other` must not be greater.
    fn sub(self, other: Wide) -> Wide {
        let (low, borrow) = self.1.overflowing_sub(other.1);
        Wide(self.0 - other.0 - u128::from(borrow), low)
    }

    fn bits(self) -> u32 {
        match self.0 {
            0 => 128 - self.1.leading_zeros(),
            high => 256 - high.leading_zeros(),
        }
    }
}

/// The sum of two numbers whose mantissas have 110 bits at most, jammed to 128 bits. An exact zero
/// is negative where both are, or where `cancelled` says so of a zero from different signs.
pub(super) fn sum(a: Exact, b: Exact, cancelled: bool) -> Exact {
    let zero = |negative| Exact { negative, mantissa: 0, exponent: 0 };
    match (a.mantissa, b.mantissa) {
        (0, 0) => return zero(if a.negative == b.negative { a.negative } else { cancelled }),
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    let top = |x: Exact| x.exponent + 128 - x.mantissa.leading_zeros() as i32;
    let (high, low) = if top(a) >= top(b) { (a, b) } else { (b, a) };
    // The higher one's top bit comes to bit 249: there is room for a carry, and for the lower one.
    let exponent = top(high) - 250;
    let place = |x: Exact| {
        let wide = Wide(0, x.mantissa);
        match x.exponent - exponent {
            up @ 0.. => wide.shift_left(up as u32),
            down => wide.shift_right_jam(down.unsigned_abs()),
        }
    };
    let (x, y) = (place(high), place(low));
    let (negative, wide) = if high.negative == low.negative {
        (high.negative, x.add(y))
    } else if x == y {
        return zero(cancelled);
    } else if x > y {
        (high.negative, x.sub(y))
    } else {
        (low.negative, y.sub(x))
    };
    let down = wide.bits().saturating_sub(128);
    let Wide(_, mantissa) = wide.shift_right_jam(down);
    Exact { negative, mantissa, exponent: exponent + down as i32 }
}

/// The product of two numbers with mantissas of 53 bits at most.
pub(super) fn product(a: Exact, b: Exact) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        mantissa: a.mantissa * b.mantissa,
        exponent: a.exponent + b.exponent,
    }
}

/// The quotient of two numbers with mantissas of 53 bits at most, the divisor not zero; jammed.
pub(super) fn quotient(a: Exact, b: Exact) -> Exact {
    let negative = a.negative != b.negative;
    if a.mantissa == 0 {
        return Exact { negative, mantissa: 0, exponent: 0 };
    }
    let up = a.mantissa.leading_zeros();
    let dividend = a.mantissa << up;
    let jam = u128::from(!dividend.is_multiple_of(b.mantissa));
    let mantissa = (dividend / b.mantissa) | jam;
    Exact { negative, mantissa, exponent: a.exponent - up as i32 - b.exponent }
}

/// The square root of a number that is not negative; jammed.
pub(super) fn square_root(x: Exact) -> Exact {
    if x.mantissa == 0 {
        return x;
    }
    let mut up = x.mantissa.leading_zeros();
    if (x.exponent - up as i32) % 2 != 0 {
        up -= 1;
    }
    let radicand = x.mantissa << up;
    let root = radicand.isqrt();
    let jam = u128::from(root * root != radicand);
    // Two bits more keep the jammed one below those that count.
    let exponent = (x.exponent - up as i32) / 2 - 2;
    Exact { negative: false, mantissa: root << 2 | jam, exponent }
}
