//! Conversions between integers and floats, exact. A float that is out of the range of signed
//! integers gives the least one, as on x86; to unsigned ones it wraps.
//!
//! A small integer added to the bits of 2^23 is the mantissa of 2^23 plus that integer, from which
//! 2^23 is taken off without error. Wide integers are converted in halves of 16 bits, the upper
//! one in the mantissa of 2^39, and the halves' sum is rounded once.

use nbcc_ir::{BinaryOp, ConvertOp, Op, Scalar, Type, UnaryOp, Value};

use super::emitter::Emitter;
use super::exponential::at_most;

/// The bits of 2^23.
const BITS_2_23: i32 = 0x4b00_0000;
/// The bits of 2^39.
pub const BITS_2_39: i32 = 0x5300_0000;

/// A conversion of the IR.
pub fn convert(e: &mut Emitter<'_, '_>, op: ConvertOp, a: Value, to: Type) -> Value {
    let from = e.type_of(a);
    match op {
        // What was a truth value is a mask of 32 bits.
        ConvertOp::ZeroExtend if from.scalar == Scalar::I32 => e.and_int(a, 1),
        ConvertOp::SignExtend if from.scalar == Scalar::I32 => a,
        ConvertOp::Truncate if to.scalar == Scalar::I1 => {
            let bit = e.and_int(a, 1);
            e.int_isub(0, bit)
        }
        ConvertOp::SignedToFloat => from_integer(e, a, true),
        ConvertOp::UnsignedToFloat => from_integer(e, a, false),
        ConvertOp::FloatToSigned => to_signed(e, a, 32),
        ConvertOp::FloatToUnsigned => to_unsigned(e, a),
        ConvertOp::Bitcast => e.op(Op::Convert(op, a, to)),
        _ => panic!("{op:?} from {from} to {to} is not in kernels"),
    }
}

/// The nearest float of an integer, halves to even.
pub fn from_integer(e: &mut Emitter<'_, '_>, a: Value, signed: bool) -> Value {
    let parts = Parts::new(e, a, signed);
    let high = e.fsub(parts.biased, parts.bias);
    match parts.low {
        Some(low) => e.fadd(high, low),
        None => high,
    }
}

/// The nearest float of the opposite of an unsigned integer; +0 for zero.
pub fn from_unsigned_negated(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let parts = Parts::new(e, a, false);
    let high = e.fsub(parts.bias, parts.biased);
    match parts.low {
        Some(low) => e.fsub(high, low),
        None => high,
    }
}

/// An integer as `biased - bias`, which is exact, plus `low`.
struct Parts {
    biased: Value,
    bias: Value,
    low: Option<Value>,
}

impl Parts {
    fn new(e: &mut Emitter<'_, '_>, a: Value, signed: bool) -> Parts {
        let range = e.interval(a);
        let natural = range.is_natural();
        if (signed || natural) && range.lo >= -(1 << 22) {
            let room = if natural { 0 } else { 1 << 22 };
            if range.hi + room < 1 << 23 {
                let biased = e.iadd_int(a, BITS_2_23 + room as i32);
                let biased = e.float_of(biased);
                let bias = e.float(2f32.powi(23) + room as f32);
                return Parts { biased, bias, low: None };
            }
        }
        let low = e.and_int(a, 0xffff);
        let low = e.or_int(low, BITS_2_23);
        let low = e.float_of(low);
        let (high, bias) = if signed && !natural {
            // 2^39 + 2^38 leaves room below for a negative half.
            let high = e.ashr(a, 16);
            (e.iadd_int(high, BITS_2_39 + (1 << 22)), 1.5 * 2f32.powi(39))
        } else {
            let high = e.lshr(a, 16);
            (e.or_int(high, BITS_2_39), 2f32.powi(39))
        };
        // The bias of the lower half too: what is left is a multiple of 2^16 of few bits.
        let bias = e.float(bias + 2f32.powi(23));
        Parts { biased: e.float_of(high), bias, low: Some(low) }
    }
}

/// The bits of 2^31.
const BITS_2_31: i32 = 0x4f00_0000;
/// The exponent of 2^31, biased: the least out of range.
const EXPONENT_2_31: i32 = 127 + 31;
/// The exponent of infinity, biased.
const EXPONENT_INFINITY: i32 = 255;

/// A float's exponent, biased. That of -0 and of a NaN may be greater by 256 where no other has a
/// sign.
fn exponent(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let bits = e.bits(a);
    if e.floats(a).lo >= 0.0 {
        return e.lshr(bits, 23);
    }
    let twice = e.shl(bits, 1);
    e.lshr(twice, 24)
}

/// The mantissa with its leading one at the top.
fn mantissa(e: &mut Emitter<'_, '_>, bits: Value) -> Value {
    let fraction = e.shl(bits, 8);
    e.or_int(fraction, i32::MIN)
}

/// A magnitude with the sign of a float.
fn with_sign_of(e: &mut Emitter<'_, '_>, magnitude: Value, a: Value) -> Value {
    if e.floats(a).lo >= 0.0 {
        return magnitude;
    }
    let sign = e.fsign(a);
    let flipped = e.xor(magnitude, sign);
    e.isub(flipped, sign)
}

/// Whether a float is in the range of signed integers.
fn fits(e: &Emitter<'_, '_>, a: Value) -> bool {
    let floats = e.floats(a);
    !floats.nan && floats.lo >= -2f32.powi(31) && floats.hi < 2f32.powi(31)
}

/// The float times 2^97: infinite where it is out of the range of integers. Its integer is then
/// found by the exponent of infinity in place of that of 2^31, and is the least one but for a NaN,
/// whose integer has the low 16 bits of that.
fn overflowing(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    e.fmul_float(a, 2f32.powi(97))
}

/// Toward zero; what is out of range gives the least integer, of which `wanted` low bits count: 8,
/// 16 or all. A float that has been rounded is converted from what it was before.
pub fn to_signed(e: &mut Emitter<'_, '_>, a: Value, wanted: u32) -> Value {
    match e.rounded(a) {
        Some((UnaryOp::Trunc, from)) => return to_signed(e, from, wanted),
        Some((UnaryOp::Floor, from)) => return floor_to_signed(e, from, wanted),
        Some((UnaryOp::Ceil, from)) => return ceil_to_signed(e, from, wanted),
        Some((UnaryOp::Nearest, from)) if is_small(e, from) => return nearest_small(e, from).0,
        _ => {}
    }
    if fits(e, a) || wanted <= 8 {
        // From 2^31 on the low byte is zero, as that of the least integer.
        return cut(e, a, EXPONENT_2_31);
    }
    if wanted <= 16 || !e.floats(a).nan {
        let a = overflowing(e, a);
        return cut(e, a, EXPONENT_INFINITY);
    }
    // The amount of the shift is negative where the float is out of range, and nothing is left.
    let bits = e.bits(a);
    let mantissa = mantissa(e, bits);
    let mantissa = e.lshr(mantissa, 1);
    // A -0 is in range.
    let twice = e.shl(bits, 1);
    let exponent = e.lshr(twice, 24);
    let amount = e.int_isub(EXPONENT_2_31 - 1, exponent);
    let magnitude = e.binary(BinaryOp::Lshr, mantissa, amount);
    let integer = with_sign_of(e, magnitude, a);
    let least = e.and_int(amount, i32::MIN);
    e.or(integer, least)
}

/// The integer of a float, cut off, where `top` is the exponent that stands for 2^31.
fn cut(e: &mut Emitter<'_, '_>, a: Value, top: i32) -> Value {
    let bits = e.bits(a);
    let exponent = exponent(e, a);
    let mantissa = mantissa(e, bits);
    let amount = e.int_isub(top, exponent);
    let magnitude = e.binary(BinaryOp::Lshr, mantissa, amount);
    with_sign_of(e, magnitude, a)
}

/// Toward zero, modulo 2^32; zero for infinities and what is no number.
fn to_unsigned(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let floats = e.floats(a);
    match e.rounded(a) {
        Some((UnaryOp::Trunc, from)) => return to_unsigned(e, from),
        Some((UnaryOp::Floor, from)) if floats.lo >= 0.0 => return to_unsigned(e, from),
        _ => {}
    }
    let natural = floats.lo > -1.0;
    if !natural && fits(e, a) {
        return cut(e, a, EXPONENT_2_31);
    }
    let bits = e.bits(a);
    // The sign bit in the exponent makes the amounts of a negative number too great, which leaves
    // zero.
    let exponent = if natural { e.lshr(bits, 23) } else { exponent(e, a) };
    let mantissa = mantissa(e, bits);
    let amount = e.int_isub(EXPONENT_2_31, exponent);
    let mut magnitude = e.binary(BinaryOp::Lshr, mantissa, amount);
    if floats.hi >= 2f32.powi(32) || floats.lo <= -2f32.powi(32) {
        let amount = e.int_isub(0, amount);
        let upper = e.binary(BinaryOp::Shl, mantissa, amount);
        magnitude = e.or(magnitude, upper);
    }
    if natural { magnitude } else { with_sign_of(e, magnitude, a) }
}

/// The floor, from the mantissa of 32 bits: what is left of a negative number when one is taken
/// off before the shift is one less than the magnitude, rounded up.
fn floor_to_signed(e: &mut Emitter<'_, '_>, a: Value, wanted: u32) -> Value {
    if e.floats(a).lo >= 0.0 {
        return to_signed(e, a, wanted);
    }
    let a = e.without_negative_zero(a);
    if is_small(e, a) {
        let (integer, float) = nearest_small(e, a);
        let over = e.fsub(a, float);
        let less = e.fsign(over);
        return e.iadd(integer, less);
    }
    let (magnitude, exponent, top) = if fits(e, a) {
        (e.bits(a), exponent(e, a), EXPONENT_2_31)
    } else if wanted <= 16 || !e.floats(a).nan {
        let a = overflowing(e, a);
        (e.bits(a), exponent(e, a), EXPONENT_INFINITY)
    } else {
        // 2^31 for all that is out of range.
        let magnitude = e.fabs(a);
        let magnitude = at_most(e, magnitude, f32::from_bits(BITS_2_31 as u32));
        let magnitude = e.bits(magnitude);
        (magnitude, e.lshr(magnitude, 23), EXPONENT_2_31)
    };
    let mantissa = mantissa(e, magnitude);
    let amount = e.int_isub(top, exponent);
    let sign = e.fsign(a);
    let mantissa = e.iadd(mantissa, sign);
    let magnitude = e.binary(BinaryOp::Lshr, mantissa, amount);
    e.xor(magnitude, sign)
}

/// The ceiling: minus the floor of the opposite.
fn ceil_to_signed(e: &mut Emitter<'_, '_>, a: Value, wanted: u32) -> Value {
    if is_small(e, a) {
        let (integer, float) = nearest_small(e, a);
        let under = e.fsub(float, a);
        let less = e.fsign(under);
        return e.isub(integer, less);
    }
    let zero = e.float(0.0);
    let opposite = e.fsub(zero, a);
    let floor = floor_to_signed(e, opposite, wanted);
    e.int_isub(0, floor)
}

/// Whether a float is so small that its nearest integer can be read from the mantissa of a sum.
fn is_small(e: &Emitter<'_, '_>, a: Value) -> bool {
    !e.floats(a).nan && e.floats(a).magnitude() < 2f32.powi(22)
}

/// The nearest integer of a small float, halves to even; the same as a float, which is no -0.
fn nearest_small(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Value) {
    let shift = e.float(1.5 * 2f32.powi(23));
    let shifted = e.fadd(a, shift);
    let float = e.fsub(shifted, shift);
    let bits = e.bits(shifted);
    (e.iadd_int(bits, -(BITS_2_23 + (1 << 22))), float)
}
