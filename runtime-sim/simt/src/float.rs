//! Float arithmetic of PTX in binary32, binary16, bf16 and binary64: rounding, flushing of
//! subnormals, saturation, canonical NaNs (PTX ISA, sections 9.7.3 to 9.7.5).

use crate::format::{Format, Rounding, add_odd, div_odd, sqrt_odd};
use crate::operation::{Binary, Mode, Unary, extremum, rounded};
use crate::{LANES, Words, wide};

/// A sum that is zero though its terms were not both zeros of its sign.
fn zero_sum(rounding: Rounding, a: f64, b: f64, sum: f64) -> f64 {
    if sum == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        return if rounding == Rounding::Down { -0.0 } else { 0.0 };
    }
    sum
}

/// An operation on two floats of at most 32 bits.
pub fn binary(format: Format, op: Binary, mode: Mode, a: u64, b: u64) -> u64 {
    if format == Format::F64 {
        return wide::binary(op, mode, a, b);
    }
    let (a, b) = if mode.ftz { (format.flush(a), format.flush(b)) } else { (a, b) };
    if matches!(op, Binary::Min | Binary::Max) {
        return extremum(format, op == Binary::Min, mode, a, b);
    }
    let (x, y) = (format.to_f64(a), format.to_f64(b));
    let result = match op {
        Binary::Add => zero_sum(mode.rounding, x, y, add_odd(x, y)),
        Binary::Sub => zero_sum(mode.rounding, x, -y, add_odd(x, -y)),
        Binary::Mul => x * y,
        Binary::Div => div_odd(x, y),
        Binary::Min | Binary::Max => f64::NAN,
    };
    rounded(format, mode, result)
}

/// `a * b + c` of floats of at most 32 bits, rounded once.
pub fn fma(format: Format, mode: Mode, a: u64, b: u64, c: u64) -> u64 {
    if format == Format::F64 {
        return wide::fma(mode, a, b, c);
    }
    let flush = |bits| if mode.ftz { format.flush(bits) } else { bits };
    let [x, y, z] = [a, b, c].map(|bits| format.to_f64(flush(bits)));
    let product = x * y;
    let sum = zero_sum(mode.rounding, product, z, add_odd(product, z));
    rounded(format, mode, sum)
}

/// An operation on a float.
pub fn unary(format: Format, op: Unary, mode: Mode, a: u64) -> u64 {
    let a = if mode.ftz { format.flush(a) } else { a };
    match op {
        Unary::Abs => return a & !format.sign(),
        Unary::Neg => return a ^ format.sign(),
        Unary::Rcp | Unary::Sqrt if format == Format::F64 => return wide::unary(op, mode, a),
        Unary::Rcp | Unary::Sqrt => {}
    }
    let x = format.to_f64(a);
    let result = if op == Unary::Rcp { div_odd(1.0, x) } else { sqrt_odd(x) };
    rounded(format, mode, result)
}

/// Conditions on two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Equal.
    Eq,
    /// Less or greater.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Equal or unordered.
    Equ,
    /// Not equal or unordered.
    Neu,
    /// Less or unordered.
    Ltu,
    /// Less, equal or unordered.
    Leu,
    /// Greater or unordered.
    Gtu,
    /// Greater, equal or unordered.
    Geu,
    /// Neither is a NaN.
    Num,
    /// One is a NaN.
    Nan,
}

impl Test {
    /// Whether it holds of two numbers.
    #[inline(always)]
    pub fn holds(self, a: f64, b: f64) -> bool {
        let unordered = a.is_nan() || b.is_nan();
        match self {
            Test::Eq => a == b,
            Test::Ne => a != b && !unordered,
            Test::Lt => a < b,
            Test::Le => a <= b,
            Test::Gt => a > b,
            Test::Ge => a >= b,
            Test::Equ => a == b || unordered,
            Test::Neu => a != b,
            Test::Ltu => a < b || unordered,
            Test::Leu => a <= b || unordered,
            Test::Gtu => a > b || unordered,
            Test::Geu => a >= b || unordered,
            Test::Num => !unordered,
            Test::Nan => unordered,
        }
    }
}

/// Whether a condition holds of two floats.
#[inline(always)]
pub fn compare(format: Format, test: Test, ftz: bool, a: u64, b: u64) -> bool {
    let (a, b) = if ftz { (format.flush(a), format.flush(b)) } else { (a, b) };
    test.holds(format.to_f64(a), format.to_f64(b))
}

/// What a float may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Neither infinite nor a NaN.
    Finite,
    /// Infinite.
    Infinite,
    /// No NaN.
    Number,
    /// A NaN.
    NotANumber,
    /// Neither subnormal, infinite nor a NaN. Zero is normal.
    Normal,
    /// Subnormal.
    Subnormal,
}

/// Whether a float has a property.
pub fn has_property(format: Format, property: Property, bits: u64) -> bool {
    let magnitude = bits & !format.sign();
    match property {
        Property::Finite => magnitude < format.infinity(),
        Property::Infinite => magnitude == format.infinity(),
        Property::Number => !format.is_nan(bits),
        Property::NotANumber => format.is_nan(bits),
        Property::Normal => magnitude < format.infinity() && !format.is_subnormal(bits),
        Property::Subnormal => format.is_subnormal(bits),
    }
}

#[inline(always)]
fn flush32(x: f32) -> f32 {
    let small = x.abs() < f32::MIN_POSITIVE;
    f32::from_bits(if small { x.to_bits() & 0x8000_0000 } else { x.to_bits() })
}

/// An operation to nearest without other modifiers than `.ftz`; `f` is it on the host.
#[inline(always)]
fn lanes2(op: Binary, a: &Words, b: &Words, ftz: bool, f: impl Fn(f32, f32) -> f32) -> Words {
    let mut out = [0; LANES];
    if ftz {
        let mode = Mode { ftz, ..Mode::NEAREST };
        for lane in 0..LANES {
            let x = flush32(f32::from_bits(a[lane]));
            let r = flush32(f(x, flush32(f32::from_bits(b[lane]))));
            out[lane] = if r.is_nan() {
                0x7fff_ffff
            } else if r.abs() == f32::MIN_POSITIVE {
                // Perhaps less before it was rounded.
                binary(Format::F32, op, mode, a[lane].into(), b[lane].into()) as u32
            } else {
                r.to_bits()
            };
        }
    } else {
        for lane in 0..LANES {
            let r = f(f32::from_bits(a[lane]), f32::from_bits(b[lane]));
            out[lane] = if r.is_nan() { 0x7fff_ffff } else { r.to_bits() };
        }
    }
    out
}

/// Two operands of a packed format, or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The format of an element.
    pub format: Format,
    /// Whether a register holds two.
    pub packed: bool,
}

impl Packing {
    /// Applies `f` to the elements of a register of some operands.
    #[inline(always)]
    pub fn map<const N: usize>(self, args: [u32; N], f: impl Fn([u64; N]) -> u64) -> u32 {
        if self.packed {
            let low = f(args.map(|a| u64::from(a & 0xffff)));
            let high = f(args.map(|a| u64::from(a >> 16)));
            return low as u32 | (high as u32) << 16;
        }
        let mask = if self.format == Format::F32 { u32::MAX } else { 0xffff };
        f(args.map(|a| u64::from(a & mask))) as u32
    }
}

/// An operation on two registers of floats.
pub fn binary_lanes(packing: Packing, op: Binary, mode: Mode, a: &Words, b: &Words) -> Words {
    let fast = packing.format == Format::F32
        && mode.rounding == Rounding::Nearest
        && !mode.sat
        && !mode.relu;
    if fast {
        match op {
            Binary::Add => return lanes2(op, a, b, mode.ftz, |x, y| x + y),
            Binary::Sub => return lanes2(op, a, b, mode.ftz, |x, y| x - y),
            Binary::Mul => return lanes2(op, a, b, mode.ftz, |x, y| x * y),
            Binary::Div => return lanes2(op, a, b, mode.ftz, |x, y| x / y),
            Binary::Min | Binary::Max => {}
        }
    }
    std::array::from_fn(|lane| {
        packing.map([a[lane], b[lane]], |[x, y]| binary(packing.format, op, mode, x, y))
    })
}

/// `a * b + c` of registers of floats.
pub fn fma_lanes(packing: Packing, mode: Mode, a: &Words, b: &Words, c: &Words) -> Words {
    let fast = packing.format == Format::F32
        && mode.rounding == Rounding::Nearest
        && !mode.sat
        && !mode.relu;
    if fast {
        let step =
            |x: f32, y: f32, z: f32| add_odd(f64::from(x) * f64::from(y), f64::from(z)) as f32;
        let mut out = [0; LANES];
        if mode.ftz {
            for lane in 0..LANES {
                let arg = |words: &Words| flush32(f32::from_bits(words[lane]));
                let r = flush32(step(arg(a), arg(b), arg(c)));
                out[lane] = if r.is_nan() {
                    0x7fff_ffff
                } else if r.abs() == f32::MIN_POSITIVE {
                    let [x, y, z] = [a, b, c].map(|words| u64::from(words[lane]));
                    fma(Format::F32, mode, x, y, z) as u32
                } else {
                    r.to_bits()
                };
            }
        } else {
            for lane in 0..LANES {
                let arg = |words: &Words| f32::from_bits(words[lane]);
                let r = step(arg(a), arg(b), arg(c));
                out[lane] = if r.is_nan() { 0x7fff_ffff } else { r.to_bits() };
            }
        }
        return out;
    }
    std::array::from_fn(|lane| {
        packing.map([a[lane], b[lane], c[lane]], |[x, y, z]| fma(packing.format, mode, x, y, z))
    })
}

/// An operation on a register of floats.
pub fn unary_lanes(packing: Packing, op: Unary, mode: Mode, a: &Words) -> Words {
    std::array::from_fn(|lane| packing.map([a[lane]], |[x]| unary(packing.format, op, mode, x)))
}

#[cfg(test)]
mod tests;
