//! Powers: `x^y = 2^(y log2 |x|)`, with the sign of `x` where `y` is odd.
//!
//! The logarithm is a sum of two floats, since its product with `y` may have eight bits before the
//! point: `log2 m = 2 atanh(s) / ln 2` with `s = (m - 1) / (m + 1)`, the first twelve bits of `s`
//! exact in the first float. The product with `y` is split in the same way.

use nbcc_ir::{BinaryOp, Value};

use super::divide_float;
use super::emitter::{Emitter, SIGN};
use super::exponential::{TO_EXPONENT, scale};
use super::logarithm::{Decomposed, decompose};
use super::polynomial::{halves, polynomial, upper};
use super::reciprocal::reciprocal;

/// Twelve bits of 2 / ln 2.
const PER_ATANH_HIGH: f32 = 2.884_765_6;
/// What is missing.
const PER_ATANH_LOW: f32 = 6.244_568e-4;
/// The whole.
const PER_ATANH: f32 = 2.885_39;
/// Beyond this exponent a power is zero or infinite.
const LIMIT: f32 = 152.0;

/// `a` to the power of `b`, within 2 ulp.
pub fn pow(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    match e.float_constant(b) {
        Some(0.0) => return e.float(1.0),
        Some(1.0) => return a,
        Some(2.0) => return e.fmul(a, a),
        Some(3.0) => {
            let square = e.fmul(a, a);
            return e.fmul(square, a);
        }
        Some(-1.0) => {
            let one = e.float(1.0);
            return divide_float::divide(e, one, a);
        }
        _ => {}
    }
    let (bases, exponents) = (e.floats(a), e.floats(b));
    let negative = bases.lo < 0.0 || bases.negative_zero;
    let mut nan = bases.nan || exponents.nan;
    let exponent = Exponent::new(e, b);
    let mut magnitude = if negative { e.fabs(a) } else { a };
    if bases.lo < 0.0 && !e.float_constant(b).is_some_and(|b| b.fract() == 0.0 || b.is_infinite()) {
        magnitude = without_fractional(e, a, magnitude, exponent);
        nan = true;
    }
    let (high, low) = logarithm(e, magnitude);

    // The exponent as the sum of `first`, rounded, and `rest`.
    let (b_high, b_low) = halves(e, b);
    let high_upper = upper(e, high);
    let high_lower = e.fsub(high, high_upper);
    let low = e.fadd(high_lower, low);
    let first = e.fmul(b, high_upper);
    let rest = e.fneg(first);
    let rest = e.mac(b_high, high_upper, rest);
    let rest = e.mac(b_low, high_upper, rest);
    let rest = e.mac(b, low, rest);

    // Limited to where the power is zero or infinite already, or no number.
    let bits = e.bits(first);
    let sign = e.and_int(bits, SIGN);
    let size = e.xor(bits, sign);
    let limit = e.int(LIMIT.to_bits() as i32);
    let excess = e.isub(size, limit);
    let passes = if nan {
        let over = e.iadd_int(size, i32::MAX - INFINITY);
        e.or(excess, over)
    } else {
        excess
    };
    let below = e.sign(passes);
    let kept = e.and(excess, below);
    let size_limited = e.iadd(kept, limit);
    let mut first = e.or(size_limited, sign);
    let rest = e.bits(rest);
    let mut rest = e.and(rest, below);
    let regular = e.float_constant(b).is_some_and(f32::is_finite);
    if nan && !regular {
        // Where the exponent or the logarithm is zero the power is one, whatever the other is.
        let neither = neither_zero(e, exponent.size, high_upper);
        first = e.and(first, neither);
        rest = e.and(rest, neither);
    } else if !regular {
        // Zero times infinity: the power is one.
        let over = e.iadd_int(size, -(INFINITY + 1));
        let number = e.sign(over);
        first = e.and(first, number);
    }
    let first = e.float_of(first);
    let rest = e.float_of(rest);

    let power = exp2(e, first, rest);
    if negative { with_sign(e, power, a, exponent) } else { power }
}

/// The bits of infinity.
const INFINITY: i32 = 0x7f80_0000;

/// What the bits of an exponent tell.
#[derive(Clone, Copy, Debug)]
struct Exponent {
    /// Those of its magnitude.
    size: Value,
    /// Negative where the magnitude is less than 1/2.
    scale: Value,
    /// The bit of one at the top and those of the fraction after it, of a magnitude of 1/2 or more:
    /// a multiple of 128.
    units: Value,
    /// Whether it may be no number.
    nan: bool,
}

impl Exponent {
    fn new(e: &mut Emitter<'_, '_>, b: Value) -> Exponent {
        let nan = e.floats(b).nan;
        let bits = e.bits(b);
        let size = e.and_int(bits, !SIGN);
        let exponent = e.lshr(size, 23);
        let scale = e.iadd_int(exponent, -126);
        let fraction = e.shl(bits, 8);
        let mantissa = e.or_int(fraction, SIGN);
        let mantissa = e.lshr(mantissa, 1);
        let units = e.binary(BinaryOp::Shl, mantissa, scale);
        Exponent { size, scale, units, nan }
    }
}

/// The magnitude of `a`, or no number where `a` is finite and less than zero and the exponent is
/// not integral, or no number itself. Zero may count as not integral: its power is one of anything.
fn without_fractional(
    e: &mut Emitter<'_, '_>,
    a: Value,
    magnitude: Value,
    exponent: Exponent,
) -> Value {
    let positive_zero = e.without_negative_zero(a);
    // Of infinities a NaN, which has no sign.
    let zero = e.fmul_float(positive_zero, 0.0);
    let negative = e.bits(zero);
    let fraction = e.and_int(exponent.units, !SIGN);
    let fraction = e.int_isub(0, fraction);
    let mut fractional = e.or(fraction, exponent.scale);
    if exponent.nan {
        let nan = e.int_isub(INFINITY, exponent.size);
        fractional = e.or(fractional, nan);
    }
    let outside = e.and(negative, fractional);
    let outside = e.sign(outside);
    let bits = e.bits(magnitude);
    let bits = e.or(bits, outside);
    e.float_of(bits)
}

/// A mask: neither magnitude, as bits, nor float is zero.
fn neither_zero(e: &mut Emitter<'_, '_>, size: Value, other: Value) -> Value {
    let other = e.fabs(other);
    let other = e.bits(other);
    let first = e.int_isub(0, size);
    let second = e.int_isub(0, other);
    let both = e.and(first, second);
    e.sign(both)
}

/// `log2 a` as a sum, for `a >= 0`: infinite in the first where `a` is zero or infinite, and a NaN of
/// one.
fn logarithm(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Value) {
    let floats = e.floats(a);
    let Decomposed { mut exponent, mantissa: m, scaled } = decompose(e, a);
    if floats.lo <= 0.0 {
        let minus_infinity = e.int(f32::NEG_INFINITY.to_bits() as i32);
        let amount = e.bits(scaled);
        let pole = e.binary(BinaryOp::Lshr, minus_infinity, amount);
        let pole = e.float_of(pole);
        exponent = e.fadd(exponent, pole);
    }
    if !floats.is_finite() || floats.nan {
        let tiny = e.float(2f32.powi(-100));
        let product = e.fmul(a, tiny);
        exponent = e.mac(product, tiny, exponent);
    }

    let one = e.float(1.0);
    let f = e.fsub(m, one);
    let m_negated = e.fneg(m);
    let d_negated = e.fsub(m_negated, one);
    let reciprocal = reciprocal(e, d_negated);
    let s = e.fmul(f, reciprocal);
    let s_high = upper(e, s);
    // f - s_high (1 + m), exact.
    let (m_high, m_low) = halves(e, m_negated);
    let rest = e.fsub(f, s_high);
    let rest = e.mac(s_high, m_high, rest);
    let rest = e.mac(s_high, m_low, rest);
    let s_low = e.fmul(rest, reciprocal);

    let s = e.fadd(s_high, s_low);
    let square = e.fmul(s, s);
    let cube = e.fmul(square, s);
    // (2 / ln 2) (atanh(s) - s) / s^3.
    let q = polynomial(e, square, &[0.336_624_68, 0.411_921_47, 0.577_078_9, 0.961_796_7]);
    let first = e.fmul_float(s_high, PER_ATANH_HIGH);
    let low = e.fmul_float(s_high, PER_ATANH_LOW);
    let whole = e.float(PER_ATANH);
    let low = e.mac(s_low, whole, low);
    let low = e.mac(cube, q, low);
    let high = e.fadd(exponent, first);
    let added = e.fsub(high, exponent);
    let lost = e.fsub(first, added);
    (high, e.fadd(lost, low))
}

/// Two to the power of a sum, the second much less than the first.
fn exp2(e: &mut Emitter<'_, '_>, first: Value, rest: Value) -> Value {
    let to_exponent = e.float(TO_EXPONENT);
    let sum = e.fadd(first, rest);
    let shifted = e.fadd(sum, to_exponent);
    let n = e.fsub(shifted, to_exponent);
    let r = e.fsub(first, n);
    let r = e.fadd(r, rest);
    // (2^r - 1) / r.
    let q = polynomial(
        e,
        r,
        &[
            0.000_153_278_03,
            0.001_339_099_7,
            0.009_618_503,
            0.055_503_596,
            0.240_226_48,
            std::f32::consts::LN_2,
        ],
    );
    let one = e.float(1.0);
    let power = e.mac(q, r, one);
    scale(e, power, shifted)
}

/// The power with the sign of `a` where the exponent is an odd integer.
fn with_sign(e: &mut Emitter<'_, '_>, power: Value, a: Value, exponent: Exponent) -> Value {
    // No other bit than that of one must be left. Zero, or 128 and more.
    let others = e.xor_int(exponent.units, SIGN);
    let sign = e.int(SIGN);
    let odd = e.binary(BinaryOp::Lshr, sign, others);
    let a = e.bits(a);
    let sign = e.and(a, odd);
    let power = e.bits(power);
    let power = e.or(power, sign);
    e.float_of(power)
}
