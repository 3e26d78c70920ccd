//! Sine, cosine and tangent.
//!
//! The operand is reduced to `r = x - q pi/2`. Where it is known to be small, by a product with
//! pi/2 in parts, exact but for the last (Cody and Waite, "Software manual for the elementary
//! functions", 1980). Else by the fractional part of `x 2/pi`, computed in integers from those
//! bits of 2/pi that matter for the exponent of `x` (Payne and Hanek, "Radian reduction for
//! trigonometric functions", SIGNUM Newsletter 18, 1983), which is good for every float. The
//! kernels are minimax polynomials up to 1.

use nbcc_ir::{BinaryOp, Value};

use super::choose::choose;
use super::convert::{BITS_2_39, from_integer};
use super::emitter::{Emitter, Mask, SIGN};
use super::polynomial::{divide_by, polynomial};
use super::reciprocal::reciprocal;

/// Up to here the products with the parts of pi/2 are exact.
const MAX_EXACT: f32 = 6000.0;
/// pi/2 in parts of twelve bits, and what is left.
const HALF_PI: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_6e-8, 2.563_344e-12];
/// Bits of 2/pi, after 25 zeros: the exponent 0 starts at the first.
const TWO_OVER_PI: [u32; 7] =
    [0x0000_0051, 0x7cc1_b727, 0x220a_94fe, 0x13ab_e8fa, 0x9a6e_e06d, 0xb14a_cc9e, 0x21c8_20ff];
/// pi/2 over 2^32.
const HALF_PI_UNIT: f32 = 3.657_295_3e-10;
/// What is missing.
const HALF_PI_UNIT_LOW: f32 = -1.017_735e-17;

/// A magnitude reduced to a rest of at most 1, of either sign, and the quarter turns taken off, of
/// which two bits count.
struct Reduced {
    rest: Value,
    quarters: Value,
}

/// Sine, within 3 ulp.
pub fn sin(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let Reduced { rest, quarters } = reduce(e, a);
    let [sine, cosine] = kernels(e, rest);
    let value = turned(e, [sine, cosine], quarters);
    let bits = e.bits(a);
    let sign = e.and_int(bits, SIGN);
    flipped(e, value, sign)
}

/// Cosine, within 3 ulp.
pub fn cos(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let Reduced { rest, quarters } = reduce(e, a);
    let [sine, cosine] = kernels(e, rest);
    let quarters = e.iadd_int(quarters, 1);
    turned(e, [sine, cosine], quarters)
}

/// Tangent, within 4 ulp.
pub fn tan(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let Reduced { rest, quarters } = reduce(e, a);
    let [sine, cosine] = kernels(e, rest);
    // The tangent, or the opposite of the cotangent: either way the divisor's sign is wanted
    // changed in one of them.
    let odd = e.shl(quarters, 31);
    let mask = Mask::plain(e.sign(odd));
    let numerator = choose(e, mask, cosine, sine);
    let denominator = choose(e, mask, sine, cosine);
    let negated = e.fneg(denominator);
    let reciprocal = reciprocal(e, negated);
    let value = divide_by(e, numerator, negated, reciprocal);
    let value = flipped(e, value, odd);
    let bits = e.bits(a);
    let sign = e.and_int(bits, SIGN);
    flipped(e, value, sign)
}

/// The sine after so many quarter turns.
fn turned(e: &mut Emitter<'_, '_>, [sine, cosine]: [Value; 2], quarters: Value) -> Value {
    let odd = e.shl(quarters, 31);
    let mask = Mask::plain(e.sign(odd));
    let value = choose(e, mask, cosine, sine);
    let second = e.and_int(quarters, 2);
    let sign = e.shl(second, 30);
    flipped(e, value, sign)
}

/// A float with its sign changed where a sign bit is set.
fn flipped(e: &mut Emitter<'_, '_>, value: Value, sign: Value) -> Value {
    let bits = e.bits(value);
    let bits = e.xor(bits, sign);
    e.float_of(bits)
}

/// Sine and cosine of a rest of at most 1.
fn kernels(e: &mut Emitter<'_, '_>, r: Value) -> [Value; 2] {
    let square = e.fmul(r, r);
    // (sin(r) / r - 1) / r^2.
    let sine = polynomial(e, square, &[-0.000_193_137, 0.008_330_249, -0.166_666_15]);
    let sine = e.fmul(sine, square);
    let sine = e.mac(sine, r, r);
    // (cos(r) - 1) / r^2.
    let cosine =
        polynomial(e, square, &[2.407_236_4e-5, -0.001_388_211_4, 0.041_666_415, -0.499_999_97]);
    let one = e.float(1.0);
    [sine, e.mac(cosine, square, one)]
}

fn reduce(e: &mut Emitter<'_, '_>, a: Value) -> Reduced {
    let floats = e.floats(a);
    let size = floats.magnitude();
    let x = e.fabs(a);
    if size <= 1.0 {
        return Reduced { rest: x, quarters: e.int(0) };
    }
    if size <= MAX_EXACT {
        return reduce_in_parts(e, x);
    }
    // What is below 1 stays as it is.
    let bits = e.bits(x);
    let below = e.iadd_int(bits, -(1.0f32.to_bits() as i32));
    let small = e.sign(below);
    let Reduced { rest, quarters } = reduce_by_bits(e, x);
    let mut rest = choose(e, Mask::plain(small), x, rest);
    if floats.nan || !floats.is_finite() {
        // Nothing is added, or what is no number.
        let zero = e.float(0.0);
        rest = e.mac(x, zero, rest);
    }
    let large = e.not(small);
    Reduced { rest, quarters: e.and(quarters, large) }
}

fn reduce_in_parts(e: &mut Emitter<'_, '_>, x: Value) -> Reduced {
    let shift = e.float(1.5 * 8_388_608.0);
    let per_quarter = e.float(std::f32::consts::FRAC_2_PI);
    let shifted = e.mac(x, per_quarter, shift);
    let count = e.fsub(shifted, shift);
    let mut rest = x;
    for part in HALF_PI {
        let part = e.float(-part);
        rest = e.mac(count, part, rest);
    }
    Reduced { rest, quarters: e.bits(shifted) }
}

/// For magnitudes of 1 and more.
///
/// `x` is `m 2^(n - 23)`, with `m` of 24 bits. Bits of 2/pi whose product with the least bit of
/// `x` is a multiple of 4 do not matter. The 96 bits that follow, times `m`, are `x 2/pi` with two
/// bits before the point, 30 in the first word, and more than enough after them.
fn reduce_by_bits(e: &mut Emitter<'_, '_>, x: Value) -> Reduced {
    let bits = e.bits(x);
    let exponent = e.lshr(bits, 23);
    let n = e.iadd_int(exponent, -127);
    let fraction = e.and_int(bits, 0x7f_ffff);
    let m = e.or_int(fraction, 0x80_0000);
    let [w0, w1, w2] = window(e, n);

    let m = [e.lshr(m, 16), e.and_int(m, 0xffff), m];
    let [m_high, m_low, m] = m;
    let high = e.imul(w0, m);
    let middle = e.imul(w1, m);
    let middle_carry = upper_half(e, w1, m_high, m_low);
    // Of the last word the upper half is enough.
    let w2 = e.lshr(w2, 16);
    let low_carry = e.imul(w2, m_low);
    let low_carry = e.lshr(low_carry, 16);
    let product = e.imul(w2, m_high);
    let low_carry = e.iadd(product, low_carry);
    // The second word without its last bit, so that its carry can be seen.
    let middle = e.lshr(middle, 1);
    let low_carry = e.lshr(low_carry, 1);
    let middle = e.iadd(middle, low_carry);
    let carry = e.lshr(middle, 31);
    let middle = e.shl(middle, 1);
    let high = e.iadd(high, middle_carry);
    let high = e.iadd(high, carry);

    // Quarters to the nearest; the rest as a signed fraction.
    let rounded = e.iadd_int(high, 1 << 29);
    let quarters = e.lshr(rounded, 30);
    let top = e.shl(high, 2);
    let next = e.lshr(middle, 30);
    let top = e.or(top, next);
    let bottom = e.shl(middle, 2);
    let sign = e.sign(top);
    let top = e.xor(top, sign);
    let bottom = e.xor(bottom, sign);
    // In halves, so that the sum is rounded once.
    let lower = e.and_int(top, 0xffff);
    let lower = from_integer(e, lower, false);
    let upper = e.lshr(top, 16);
    let upper = e.or_int(upper, BITS_2_39);
    let upper = e.float_of(upper);
    let bias = e.float(2f32.powi(39));
    let upper = e.fsub(upper, bias);
    let bottom = e.lshr(bottom, 9);
    let bottom = from_integer(e, bottom, false);
    let unit = e.float(2f32.powi(-23));
    let lower = e.mac(bottom, unit, lower);
    let rest = e.fadd(upper, lower);
    let missing = e.float(HALF_PI_UNIT_LOW);
    let high = e.fmul_float(rest, HALF_PI_UNIT);
    let rest = e.mac(rest, missing, high);
    let sign = e.and_int(sign, SIGN);
    Reduced { rest: flipped(e, rest, sign), quarters }
}

/// The 96 bits of 2/pi from bit `n` on, `n` from 0 to 127.
fn window(e: &mut Emitter<'_, '_>, n: Value) -> [Value; 3] {
    let bit = |e: &mut Emitter<'_, '_>, k: i32| {
        let top = e.shl(n, 31 - k);
        e.sign(top)
    };
    let (by_64, by_32) = (bit(e, 6), bit(e, 5));
    let words: Vec<Value> = (0..5)
        .map(|k| {
            let near = e.int(TWO_OVER_PI[k] as i32);
            let far = e.int(TWO_OVER_PI[k + 2] as i32);
            choose(e, Mask::plain(by_64), far, near)
        })
        .collect();
    let words: Vec<Value> =
        (0..4).map(|k| choose(e, Mask::plain(by_32), words[k + 1], words[k])).collect();
    let left = e.and_int(n, 31);
    let right = e.int_isub(32, left);
    [0, 1, 2].map(|k| {
        let upper = e.binary(BinaryOp::Shl, words[k], left);
        let lower = e.binary(BinaryOp::Lshr, words[k + 1], right);
        e.or(upper, lower)
    })
}

/// The upper 32 bits of the product of a word and the 24 bits of `high` and `low`, of 16 bits.
fn upper_half(e: &mut Emitter<'_, '_>, word: Value, high: Value, low: Value) -> Value {
    let word_high = e.lshr(word, 16);
    let word_low = e.and_int(word, 0xffff);
    let product = e.imul(word_low, low);
    let carry = e.lshr(product, 16);
    let cross = e.imul(word_low, high);
    let cross = e.iadd(cross, carry);
    let cross_low = e.and_int(cross, 0xffff);
    let other = e.imul(word_high, low);
    let other = e.iadd(other, cross_low);
    let product = e.imul(word_high, high);
    let cross = e.lshr(cross, 16);
    let product = e.iadd(product, cross);
    let other = e.lshr(other, 16);
    e.iadd(product, other)
}
