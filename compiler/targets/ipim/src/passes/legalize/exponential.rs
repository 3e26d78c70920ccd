//! Exponential functions.
//!
//! `e^x = 2^n e^r` with `n` the integer nearest to `x / ln 2`, found by adding a number whose unit
//! in the last place is one, and `r` what is left (Cody and Waite, "Software manual for the
//! elementary functions", 1980). The polynomials are minimax for their intervals.

use nbcc_ir::Value;

use super::emitter::{Emitter, SIGN};
use super::polynomial::polynomial;

/// 1.5 * 2^23, where a unit in the last place is one, plus twice the bias of a float's exponent:
/// the low nine bits of the sum with an integer are the integer plus 254.
pub const TO_EXPONENT: f32 = 12_582_912.0 + 254.0;
/// Beyond this magnitude the exponential is zero or infinite.
const LIMIT: f32 = 104.0;
/// The upper bits of ln 2: its products with integers of eight bits are exact.
const LN2_HIGH: f32 = 0.693_359_4;
/// What is missing.
const LN2_LOW: f32 = -2.121_944_4e-4;

/// e to the operand, within 2 ulp.
pub fn exp(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let x = limited(e, a, LIMIT);
    let (shifted, r) = reduced(e, x);
    // (e^r - 1 - r) / r^2, within 4e-9 of e^r.
    let q = polynomial(e, r, &[0.001_382_073_4, 0.008_368_677, 0.041_668_266, 0.166_665_21, 0.5]);
    let square = e.fmul(r, r);
    let q = e.mac(q, square, r);
    let one = e.float(1.0);
    let power = e.fadd(q, one);
    scale(e, power, shifted)
}

/// A float of at most that magnitude, with the sign of `a`; no number of none.
pub fn limited(e: &mut Emitter<'_, '_>, a: Value, limit: f32) -> Value {
    let floats = e.floats(a);
    if floats.magnitude() <= limit {
        return a;
    }
    let bits = e.bits(a);
    let sign = e.and_int(bits, SIGN);
    let magnitude = e.xor(bits, sign);
    let magnitude = e.float_of(magnitude);
    let magnitude = match floats.nan {
        true => at_most_or_nan(e, magnitude, limit),
        false => at_most(e, magnitude, limit),
    };
    let magnitude = e.bits(magnitude);
    let bits = e.or(magnitude, sign);
    e.float_of(bits)
}

/// The lesser of a magnitude and a limit, or the NaN: its difference has no sign.
fn at_most_or_nan(e: &mut Emitter<'_, '_>, magnitude: Value, limit: f32) -> Value {
    let most = e.float(limit);
    let left = e.fsub(most, magnitude);
    let above = e.fsign(left);
    let bits = e.bits(magnitude);
    let most = e.bits(most);
    let excess = e.isub(bits, most);
    let taken = e.and(excess, above);
    let bits = e.isub(bits, taken);
    e.float_of(bits)
}

/// The lesser of a magnitude and a limit; the limit in place of a NaN.
pub fn at_most(e: &mut Emitter<'_, '_>, magnitude: Value, limit: f32) -> Value {
    let bits = e.bits(magnitude);
    let limit = e.int(limit.to_bits() as i32);
    let excess = e.isub(bits, limit);
    let below = e.sign(excess);
    let kept = e.and(excess, below);
    let bits = e.iadd(kept, limit);
    e.float_of(bits)
}

/// `n` in the low bits of a float, as [`TO_EXPONENT`] says, and `x - n ln 2`.
pub fn reduced(e: &mut Emitter<'_, '_>, x: Value) -> (Value, Value) {
    let to_exponent = e.float(TO_EXPONENT);
    let per_octave = e.float(std::f32::consts::LOG2_E);
    let shifted = e.mac(x, per_octave, to_exponent);
    let n = e.fsub(shifted, to_exponent);
    let high = e.float(-LN2_HIGH);
    let low = e.float(-LN2_LOW);
    let r = e.mac(n, high, x);
    (shifted, e.mac(n, low, r))
}

/// A float times a power of two whose exponent, from -252 to 255, is in the low bits of `shifted`.
/// It is rounded once.
pub fn scale(e: &mut Emitter<'_, '_>, a: Value, shifted: Value) -> Value {
    let bits = e.bits(shifted);
    let total = e.shl(bits, 23);
    let first = e.lshr(total, 1);
    let first = e.and_int(first, !0x7f_ffff);
    let second = e.isub(total, first);
    let first = e.float_of(first);
    let second = e.float_of(second);
    let a = e.fmul(a, first);
    e.fmul(a, second)
}
