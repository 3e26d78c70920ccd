//! Operations on floats, how they round, and what is done alike in every format.

use crate::format::{Format, Rounding};

/// Operations on two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

/// Operations on one float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// Reciprocal.
    Rcp,
    /// Square root.
    Sqrt,
    /// Magnitude.
    Abs,
    /// The other sign.
    Neg,
}

/// How an operation rounds, and what it does to operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// How the result is rounded.
    pub rounding: Rounding,
    /// Subnormal operands and results become zeros of their sign.
    pub ftz: bool,
    /// The result is limited to 0..1, a NaN to 0.
    pub sat: bool,
    /// A negative result becomes 0.
    pub relu: bool,
    /// Minimum and maximum: a NaN operand gives a NaN.
    pub nan: bool,
    /// Minimum and maximum of magnitudes, with the exclusive or of the signs.
    pub xorsign_abs: bool,
}

impl Mode {
    /// With that rounding and nothing else.
    pub const fn plain(rounding: Rounding) -> Mode {
        Mode { rounding, ftz: false, sat: false, relu: false, nan: false, xorsign_abs: false }
    }

    /// To nearest, and nothing else.
    pub const NEAREST: Mode = Mode::plain(Rounding::Nearest);
}

/// The bits of a result that is exact or rounded to odd, of a format of at most 32 bits.
#[inline]
pub fn rounded(format: Format, mode: Mode, x: f64) -> u64 {
    let bits = match mode.ftz {
        true => format.from_f64_flushed(mode.rounding, x),
        false => format.from_f64(mode.rounding, x),
    };
    finish(format, mode, bits)
}

/// What comes behind rounding.
#[inline(always)]
pub fn finish(format: Format, mode: Mode, bits: u64) -> u64 {
    let bits = if mode.ftz { format.flush(bits) } else { bits };
    if !mode.sat && !mode.relu {
        return bits;
    }
    if format.is_nan(bits) {
        return if mode.sat { 0 } else { format.nan() };
    }
    if bits & format.sign() != 0 {
        return 0;
    }
    if mode.sat { bits.min(format.one()) } else { bits }
}

/// The lesser or greater of two floats that are flushed already.
pub fn extremum(format: Format, least: bool, mode: Mode, a: u64, b: u64) -> u64 {
    let (a_nan, b_nan) = (format.is_nan(a), format.is_nan(b));
    if (a_nan && b_nan) || (mode.nan && (a_nan || b_nan)) {
        return format.nan();
    }
    let magnitude = !format.sign();
    let (x, y) = if mode.xorsign_abs { (a & magnitude, b & magnitude) } else { (a, b) };
    let sign = if mode.xorsign_abs { (a ^ b) & format.sign() } else { 0 };
    let chosen = if a_nan {
        y
    } else if b_nan {
        x
    } else {
        // Sign and magnitude as a number that orders as the floats do, -0 before +0.
        let key = |bits: u64| {
            let rank = (bits & magnitude) as i64;
            if bits & format.sign() != 0 { -1 - rank } else { rank }
        };
        if (key(x) < key(y)) == least { x } else { y }
    };
    chosen | sign
}
