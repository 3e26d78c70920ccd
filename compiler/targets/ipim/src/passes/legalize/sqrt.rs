//! Square root, within 2 ulp.
//!
//! The operand is scaled by an even power of two, so that denormal numbers are normal. Newton's
//! method for the reciprocal of the root starts from the operand's bits, halved and taken from a
//! constant (Blinn, "Floating-point tricks", 1997); a step for the root itself ends it.

use nbcc_ir::{BinaryOp, Value};

use super::emitter::{Emitter, SIGN};

/// The bit of the exponent that is set from 2 on.
const TWO: i32 = 0x4000_0000;
/// The bits of -2^63, minus half of 2^64. Taking [`TWO`] off gives -2^-65, the sign the opposite.
const MINUS_HALF_SCALE: i32 = 0xdf00_0000_u32 as i32;
/// What a number's halved bits and the bits of its root's reciprocal add up to.
const SUM_OF_BITS: i32 = 0x5f37_5a86;

/// The square root.
pub fn sqrt(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let floats = e.floats(a);
    let bits = e.bits(a);
    let two = e.and_int(bits, SIGN | TWO);
    let scale = e.int_isub(MINUS_HALF_SCALE, two);
    let scale = e.float_of(scale);
    // Minus half the scaled magnitude.
    let half = e.fmul(a, scale);
    let root = root_of_twice(e, half);
    // 2^-32 or 2^32, and a negative number for a negative operand: the root of -0 is -0.
    let unscale = e.ashr(two, 1);
    let unscale = e.iadd_int(unscale, (127 - 32) << 23);
    let unscale = e.float_of(unscale);
    let mut root = e.fmul(root, unscale);
    if !floats.is_finite() {
        // Nothing is left of the root of infinity, and the term added below, too small to matter
        // for any other operand, is infinite.
        let no_number = e.fmul_float(a, 0.0);
        let no_number = e.bits(no_number);
        let out = e.shl(no_number, 1);
        let bits = e.bits(root);
        let bits = e.binary(BinaryOp::Lshr, bits, out);
        root = e.float_of(bits);
    }
    if floats.lo < 0.0 {
        // A mask is no number.
        let positive_zero = e.without_negative_zero(a);
        let negative = e.fsign(positive_zero);
        let bits = e.bits(root);
        let bits = e.or(bits, negative);
        root = e.float_of(bits);
    }
    if floats.is_finite() {
        return root;
    }
    let tiny = e.float(f32::from_bits(1));
    e.mac(a, tiny, root)
}

/// The root of +0 or a number between 2^-100 and 2^100; unspecified for negative numbers.
pub fn root_near_one(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let half = e.fmul_float(a, -0.5);
    root_of_twice(e, half)
}

/// The root of twice the opposite of a number, which has its sign set.
fn root_of_twice(e: &mut Emitter<'_, '_>, half: Value) -> Value {
    let halved = e.bits(half);
    let halved = e.lshr(halved, 1);
    // Where the sign now is.
    let sum = SUM_OF_BITS.wrapping_add(TWO);
    let start = e.int_isub(sum - (1 << 22), halved);
    let mut y = e.float_of(start);
    for _ in 0..2 {
        let product = e.fmul(half, y);
        let c = e.float(1.5);
        let factor = e.mac(product, y, c);
        y = e.fmul(y, factor);
    }
    let half_root = e.fmul(half, y);
    let root = e.fmul_float(half_root, -2.0);
    let square = e.fmul(half_root, root);
    let rest = e.fsub(square, half);
    e.mac(rest, y, root)
}
