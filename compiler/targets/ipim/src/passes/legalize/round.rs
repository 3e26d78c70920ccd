//! Rounding floats to integral floats, exact, with the sign of the operand.
//!
//! Adding 2^23 to a lesser magnitude leaves no bits for a fraction, so the sum is rounded to an
//! integer, halves to even, and taking 2^23 off again is exact. Magnitudes of 2^23 and more are
//! integers, and get nothing added.

use nbcc_ir::Value;

use super::emitter::{Emitter, SIGN};

/// 2^23.
const LIMIT: f32 = 8388608.0;

/// A magnitude rounded to nearest even, for the magnitude of a float.
fn nearest_magnitude(e: &mut Emitter<'_, '_>, magnitude: Value, most: f32) -> Value {
    let limit = e.float(LIMIT);
    let added = if most < LIMIT {
        limit
    } else {
        let limit = e.bits(limit);
        let bits = e.bits(magnitude);
        let less = e.isub(bits, limit);
        let mask = e.sign(less);
        let added = e.and(mask, limit);
        e.float_of(added)
    };
    let sum = e.fadd(magnitude, added);
    e.fsub(sum, added)
}

/// The sign bit of a float; its magnitude; the magnitude rounded to nearest.
fn split(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Value, Value) {
    let most = e.floats(a).magnitude();
    let bits = e.bits(a);
    let sign = e.and_int(bits, SIGN);
    let magnitude = e.xor(bits, sign);
    let magnitude = e.float_of(magnitude);
    let nearest = nearest_magnitude(e, magnitude, most);
    (sign, magnitude, nearest)
}

fn with_sign(e: &mut Emitter<'_, '_>, magnitude: Value, sign: Value) -> Value {
    let bits = e.bits(magnitude);
    let bits = e.or(bits, sign);
    e.float_of(bits)
}

/// One where `a < b`, else zero. The difference of the two is no -0.
fn one_where_less(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    let difference = e.fsub(a, b);
    let mask = e.fsign(difference);
    let one = e.float(1.0);
    let one = e.bits(one);
    let one = e.and(mask, one);
    e.float_of(one)
}

/// To the nearest integer, halves to even.
pub fn nearest(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let (sign, _, nearest) = split(e, a);
    with_sign(e, nearest, sign)
}

/// Toward negative infinity.
pub fn floor(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let nearest = nearest(e, a);
    // A zero here has the sign of `a`, so that the difference is no -0.
    let one = one_where_less(e, a, nearest);
    e.fsub(nearest, one)
}

/// Toward positive infinity.
pub fn ceil(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let sign = e.bits(a);
    let sign = e.and_int(sign, SIGN);
    let nearest = nearest(e, a);
    let one = one_where_less(e, nearest, a);
    let up = e.fadd(nearest, one);
    with_sign(e, up, sign)
}

/// Toward zero.
///
/// Above 1 the bits of the fraction are cleared, by a mask of ones that an arithmetic shift fills
/// from the left: sign, exponent and as many bits of the mantissa as the exponent says. Below 1
/// only the sign stays.
pub fn trunc(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let bits = e.bits(a);
    let twice = e.shl(bits, 1);
    let exponent = e.lshr(twice, 24);
    let below = e.int_isub(126, exponent);
    let above_one = e.sign(below);
    let ones = e.iadd_int(exponent, -119);
    let ones = e.and(ones, above_one);
    let sign = e.int(SIGN);
    let mask = e.binary(nbcc_ir::BinaryOp::Ashr, sign, ones);
    let kept = e.and(bits, mask);
    e.float_of(kept)
}
