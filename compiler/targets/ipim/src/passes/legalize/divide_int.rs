//! Integer division, exact for all operands.
//!
//! Signs are taken off first: where `a` is negative, `!a` is not, and the Euclidean quotient by a
//! positive divisor is the opposite in the same sense. What remains is a dividend below 2^31.
//!
//! By a constant: the upper half of the product with a scaled reciprocal (Granlund and Montgomery,
//! "Division by invariant integers using multiplication", PLDI 1994), made of 16-bit halves.
//!
//! By a variable: two digits of the quotient are estimated in floats from the reciprocal of the
//! divisor, each to within half of what the next corrects; the sign of the remainder corrects the
//! last.

use nbcc_ir::Value;

use super::compare;
use super::convert::{from_integer, from_unsigned_negated};
use super::emitter::Emitter;
use super::facts::Interval;
use super::reciprocal::reciprocal_below;

/// The greatest dividend that one digit is enough for.
const ONE_DIGIT: i64 = 1 << 17;

/// Euclidean quotient and remainder: both zero where the divisor is.
pub fn euclidean(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> (Value, Value) {
    if let Some(divisor) = e.int_constant(b) {
        return euclidean_by_constant(e, a, divisor);
    }
    let divisors = e.interval(b);
    let (n, sign) = without_sign(e, a);
    let (d, divisor_sign) = magnitude(e, b);
    let (mut quotient, mut remainder) = divide(e, n, d);
    if let Some(sign) = sign {
        quotient = e.xor(quotient, sign);
        let complement = e.xor(remainder, sign);
        let added = e.and(d, sign);
        remainder = e.iadd(complement, added);
    }
    if let Some(sign) = divisor_sign {
        let flipped = e.xor(quotient, sign);
        quotient = e.isub(flipped, sign);
    }
    if divisors.holds(0) {
        let some = compare::zero(e, b, false);
        let some = e.mask_value(some);
        quotient = e.and(quotient, some);
        remainder = e.and(remainder, some);
    }
    (quotient, remainder)
}

/// Quotient toward zero, and the remainder with the dividend's sign. Unspecified where the divisor
/// is zero.
pub fn truncating(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> (Value, Value) {
    let (n, sign) = without_sign(e, a);
    let (d, divisor_sign) = magnitude(e, b);
    let (mut quotient, remainder) = divide(e, n, d);
    if let Some(sign) = sign {
        // `n` is one less than the magnitude.
        let next = e.iadd_int(remainder, 1);
        let missing = e.isub(next, d);
        let full = compare::zero(e, missing, true);
        let full = e.mask_value(full);
        let carry = e.and(full, sign);
        quotient = e.isub(quotient, carry);
    }
    let negative = match (sign, divisor_sign) {
        (Some(x), Some(y)) => Some(e.xor(x, y)),
        (x, y) => x.or(y),
    };
    if let Some(sign) = negative {
        let flipped = e.xor(quotient, sign);
        quotient = e.isub(flipped, sign);
    }
    let product = e.imul(quotient, b);
    (quotient, e.isub(a, product))
}

/// Unsigned quotient and remainder. Unspecified where the divisor is zero.
pub fn unsigned(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> (Value, Value) {
    if e.interval(a).is_natural() {
        return divide(e, a, b);
    }
    match e.constant(b) {
        Some(0) => return (a, a),
        Some(d) if d.is_power_of_two() => {
            let quotient = e.lshr(a, d.trailing_zeros() as i32);
            return (quotient, e.and_int(a, (d - 1) as i32));
        }
        _ => {}
    }
    // Twice the quotient of half the dividend, and one more where the rest holds the divisor.
    let half = e.lshr(a, 1);
    let (quotient, _) = divide(e, half, b);
    let quotient = e.iadd(quotient, quotient);
    let product = e.imul(quotient, b);
    let rest = e.isub(a, product);
    let less = compare::less(e, false, rest, b);
    let less = e.mask_value(less);
    let next = e.iadd_int(quotient, 1);
    let quotient = e.iadd(next, less);
    let reduced = e.isub(rest, b);
    let back = e.and(b, less);
    (quotient, e.iadd(reduced, back))
}

/// `a`, or `!a` where it is negative; the sign, if there may be one.
fn without_sign(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Option<Value>) {
    let range = e.interval(a);
    if range.is_natural() {
        return (a, None);
    }
    let sign = e.sign(a);
    let n = e.xor(a, sign);
    e.assume(n, Interval { lo: 0, hi: range.hi.max(-1 - range.lo) });
    (n, Some(sign))
}

/// The magnitude as an unsigned number; the sign, if there may be one.
fn magnitude(e: &mut Emitter<'_, '_>, b: Value) -> (Value, Option<Value>) {
    let range = e.interval(b);
    if range.is_natural() {
        return (b, None);
    }
    let sign = e.sign(b);
    let flipped = e.xor(b, sign);
    let magnitude = e.isub(flipped, sign);
    if range.lo > Interval::FULL.lo {
        e.assume(magnitude, Interval { lo: 0, hi: range.hi.max(-range.lo) });
    }
    (magnitude, Some(sign))
}

/// Quotient and remainder of a dividend below 2^31 by an unsigned divisor.
fn divide(e: &mut Emitter<'_, '_>, n: Value, d: Value) -> (Value, Value) {
    if let Some(divisor) = e.constant(d) {
        let quotient = natural_by_constant(e, n, divisor);
        let product = e.imul(quotient, d);
        return (quotient, e.isub(n, product));
    }
    let most = e.interval(n).hi;
    let negated = from_unsigned_negated(e, d);
    // A little less than the reciprocal, so that a dividend below 2^31 is less than 128 divisors
    // of 2^24 or more, and the first digit, a multiple of 256, is zero for them.
    let reciprocal = reciprocal_below(e, negated);
    let mut quotient = None;
    let mut rest = n;
    if most > ONE_DIGIT {
        // In the mantissa of 2^31 a unit is 256. The first digit is off by at most 128 and 2.6e-6
        // of itself, and so the rest is within 31 bits of either sign.
        let float = from_integer(e, n, false);
        let shifted = e.float(2f32.powi(31));
        let estimate = e.mac(float, reciprocal, shifted);
        let bits = e.bits(estimate);
        let digit = e.shl(bits, 8);
        let product = e.imul(digit, d);
        rest = e.isub(n, product);
        quotient = Some(digit);
    }
    // Off by less than half, before it is rounded: the quotient, or one more.
    let float = from_integer(e, rest, true);
    let shifted = e.float(1.5 * 2f32.powi(23));
    let estimate = e.mac(float, reciprocal, shifted);
    let bits = e.bits(estimate);
    let digit = e.iadd_int(bits, -0x4b40_0000);
    let product = e.imul(digit, d);
    let rest = e.isub(rest, product);
    let quotient = match quotient {
        Some(upper) => e.iadd(upper, digit),
        None => digit,
    };
    let over = e.sign(rest);
    let back = e.and(d, over);
    (e.iadd(quotient, over), e.iadd(rest, back))
}

fn euclidean_by_constant(e: &mut Emitter<'_, '_>, a: Value, divisor: i32) -> (Value, Value) {
    let zero = e.int(0);
    if divisor == 0 {
        return (zero, zero);
    }
    let d = divisor.unsigned_abs();
    let (quotient, remainder) = if d.is_power_of_two() {
        let shifted = e.ashr(a, d.trailing_zeros() as i32);
        (shifted, e.and_int(a, (d - 1) as i32))
    } else {
        let quotient = floor_by_constant(e, a, d);
        let product = e.imul_int(quotient, d as i32);
        (quotient, e.isub(a, product))
    };
    (if divisor < 0 { e.isub(zero, quotient) } else { quotient }, remainder)
}

/// The floor of `a / d`; `d` is no power of two.
fn floor_by_constant(e: &mut Emitter<'_, '_>, a: Value, d: u32) -> Value {
    let range = e.interval(a);
    let divisor = i64::from(d);
    // Enough divisors to make every dividend natural.
    let lifted = if range.is_natural() { 0 } else { (-range.lo + divisor - 1) / divisor };
    let most = range.hi + lifted * divisor;
    if let Some((factor, shift)) = small_reciprocal(divisor, most) {
        let product = e.imul_int(a, factor as i32);
        let product = e.iadd_int(product, (lifted * divisor * factor) as i32);
        let quotient = e.lshr(product, shift as i32);
        return e.iadd_int(quotient, -lifted as i32);
    }
    if !e.is_scalar() && range.lo >= -(1 << 21) && range.hi <= 1 << 21 && divisor <= 1 << 21 {
        return floor_in_floats(e, a, d);
    }
    let (n, sign) = without_sign(e, a);
    let quotient = natural_by_constant(e, n, d);
    match sign {
        Some(sign) => e.xor(quotient, sign),
        None => quotient,
    }
}

/// `a` and `d` of at most 2^21. Taking half a divisor less half a unit off the dividend leaves the
/// quotient at least half a unit of the dividend away from where rounding to nearest changes.
fn floor_in_floats(e: &mut Emitter<'_, '_>, a: Value, d: u32) -> Value {
    let float = from_integer(e, a, true);
    let reciprocal = e.float(1.0 / d as f32);
    let centre = e.float((0.5 / f64::from(d) - 0.5) as f32);
    let estimate = e.mac(float, reciprocal, centre);
    let shifted = e.float(1.5 * 2f32.powi(23));
    let estimate = e.fadd(estimate, shifted);
    let bits = e.bits(estimate);
    e.iadd_int(bits, -0x4b40_0000)
}

/// The quotient of a dividend below 2^31 by a constant other than zero.
fn natural_by_constant(e: &mut Emitter<'_, '_>, n: Value, d: u32) -> Value {
    let most = e.interval(n).hi;
    let divisor = i64::from(d);
    if d.is_power_of_two() {
        return e.lshr(n, d.trailing_zeros() as i32);
    }
    if most < divisor {
        return e.int(0);
    }
    if let Some((factor, shift)) = small_reciprocal(divisor, most) {
        let product = e.imul_int(n, factor as i32);
        return e.lshr(product, shift as i32);
    }
    // The least factor for which rounding it up does no harm. One of 32 bits always does: with
    // 2^31 times the next power of two, the error is less than that power.
    let works = |&shift: &u32| {
        let (d, most) = (u128::from(d), most as u128);
        let factor = (1u128 << shift).div_ceil(d);
        factor < 1 << 32 && (factor * d - (1 << shift)) * most < 1 << shift
    };
    let shift = (32..=62).find(works).expect("31 bits and those of the divisor are enough");
    let factor = (1u64 << shift).div_ceil(u64::from(d)) as u32;
    let upper = upper_half(e, n, factor);
    e.lshr(upper, shift as i32 - 32)
}

/// A factor and a shift with `n / d == n * factor >> shift` for `0 <= n <= most`, the product in
/// 32 bits.
fn small_reciprocal(d: i64, most: i64) -> Option<(i64, u32)> {
    (1..32).find_map(|shift| {
        let factor = ((1i64 << shift) + d - 1) / d;
        let fits = factor.checked_mul(most.max(1)).is_some_and(|p| p < 1 << 32);
        (fits && (factor * d - (1 << shift)) * most < 1 << shift).then_some((factor, shift))
    })
}

/// The upper 32 bits of an unsigned product with a constant.
fn upper_half(e: &mut Emitter<'_, '_>, n: Value, factor: u32) -> Value {
    let (factor_high, factor_low) = ((factor >> 16) as i32, (factor & 0xffff) as i32);
    let high = e.lshr(n, 16);
    let low = e.and_int(n, 0xffff);
    let product = e.imul_int(low, factor_low);
    let carry = e.lshr(product, 16);
    let cross = e.imul_int(high, factor_low);
    let cross = e.iadd(cross, carry);
    if factor_high == 0 {
        return e.lshr(cross, 16);
    }
    let cross_low = e.and_int(cross, 0xffff);
    let other = e.imul_int(low, factor_high);
    let other = e.iadd(other, cross_low);
    let product = e.imul_int(high, factor_high);
    let cross = e.lshr(cross, 16);
    let product = e.iadd(product, cross);
    let other = e.lshr(other, 16);
    e.iadd(product, other)
}
