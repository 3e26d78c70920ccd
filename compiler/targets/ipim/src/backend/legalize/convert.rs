//! Conversions between integers and floats, exact.
//!
//! A small integer added to the bits of 2^23 is the mantissa of 2^23 plus that integer, from which
//! 2^23 is taken off without error. Wide integers are converted in halves of 16 bits, the upper
//! one in the mantissa of 2^39, and the halves' sum is rounded once.

use nbcc_ir::{BinaryOp, ConvertOp, Op, Scalar, Type, UnaryOp, Value};

use super::emitter::Emitter;

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
        ConvertOp::FloatToSigned => to_signed(e, a),
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

/// The mantissa with its leading one at the top, and by how much to shift it right so that the
/// magnitude's integer part is left. `exponent` is the float's, biased.
fn mantissa(e: &mut Emitter<'_, '_>, bits: Value, exponent: Value) -> (Value, Value) {
    let fraction = e.shl(bits, 8);
    let mantissa = e.or_int(fraction, i32::MIN);
    let amount = e.int_isub(158, exponent);
    (mantissa, amount)
}

/// Toward zero; what is out of range gives an unspecified integer. A float that has been rounded
/// is converted from what it was before.
fn to_signed(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    match e.rounded(a) {
        Some((UnaryOp::Trunc, from)) => return to_signed(e, from),
        Some((UnaryOp::Floor, from)) => return floor_to_signed(e, from),
        Some((UnaryOp::Ceil, from)) => return ceil_to_signed(e, from),
        Some((UnaryOp::Nearest, from)) if is_small(e, from) => return nearest_small(e, from).0,
        _ => {}
    }
    if e.floats(a).lo >= 0.0 {
        return to_unsigned(e, a);
    }
    let bits = e.bits(a);
    let twice = e.shl(bits, 1);
    let exponent = e.lshr(twice, 24);
    let (mantissa, amount) = mantissa(e, bits, exponent);
    let magnitude = e.binary(BinaryOp::Lshr, mantissa, amount);
    let sign = e.sign(bits);
    let flipped = e.xor(magnitude, sign);
    e.isub(flipped, sign)
}

/// The same for unsigned integers. The sign bit in the exponent makes the amount of a negative
/// number too great, which leaves zero.
fn to_unsigned(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    if let Some((UnaryOp::Trunc | UnaryOp::Floor, from)) = e.rounded(a) {
        return to_unsigned(e, from);
    }
    let bits = e.bits(a);
    let exponent = e.lshr(bits, 23);
    let (mantissa, amount) = mantissa(e, bits, exponent);
    e.binary(BinaryOp::Lshr, mantissa, amount)
}

/// The floor, from the mantissa of 32 bits: what is left of a negative number when one is taken
/// off before the shift is one less than the magnitude, rounded up.
fn floor_to_signed(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    if e.floats(a).lo >= 0.0 {
        return to_unsigned(e, a);
    }
    let a = without_negative_zero(e, a);
    if is_small(e, a) {
        let (integer, float) = nearest_small(e, a);
        let over = e.fsub(a, float);
        let less = e.fsign(over);
        return e.iadd(integer, less);
    }
    let bits = e.bits(a);
    let twice = e.shl(bits, 1);
    let exponent = e.lshr(twice, 24);
    let (mantissa, amount) = mantissa(e, bits, exponent);
    let sign = e.sign(bits);
    let mantissa = e.iadd(mantissa, sign);
    let magnitude = e.binary(BinaryOp::Lshr, mantissa, amount);
    e.xor(magnitude, sign)
}

/// The ceiling: minus the floor of the opposite.
fn ceil_to_signed(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    if is_small(e, a) {
        let (integer, float) = nearest_small(e, a);
        let under = e.fsub(float, a);
        let less = e.fsign(under);
        return e.isub(integer, less);
    }
    let zero = e.float(0.0);
    let opposite = e.fsub(zero, a);
    let floor = floor_to_signed(e, opposite);
    e.int_isub(0, floor)
}

fn without_negative_zero(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    if !e.floats(a).negative_zero {
        return a;
    }
    let zero = e.float(0.0);
    e.fadd(a, zero)
}

/// Whether a float is so small that its nearest integer can be read from the mantissa of a sum.
fn is_small(e: &Emitter<'_, '_>, a: Value) -> bool {
    e.floats(a).magnitude() < 2f32.powi(22)
}

/// The nearest integer of a small float, halves to even; the same as a float, which is no -0.
fn nearest_small(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Value) {
    let shift = e.float(1.5 * 2f32.powi(23));
    let shifted = e.fadd(a, shift);
    let float = e.fsub(shifted, shift);
    let bits = e.bits(shifted);
    (e.iadd_int(bits, -(BITS_2_23 + (1 << 22))), float)
}
