//! Float division, within 2 ulp of the correctly rounded quotient for all operands.
//!
//! Dividend and divisor are scaled by 2^64 or 2^-64, after which denormal numbers are normal, and
//! taken apart into mantissa and exponent. The quotient of the mantissas is made in two digits, as
//! with pencil and paper: twelve bits first, whose product with the divisor's halves leaves an
//! exact remainder, then the remainder times the reciprocal. Their sum is nearly always correctly
//! rounded, and exact where the quotient is a float. The exponents come back as factors, the last
//! of which rounds where the result is denormal.

use nbcc_ir::{BinaryOp, Value};

use super::emitter::Emitter;
use super::polynomial::divide_by;
use super::reciprocal::reciprocal;
use super::round;

const INFINITY: i32 = 0x7f80_0000;
const ONE: i32 = 0x3f80_0000;
/// Sign and mantissa.
const NO_EXPONENT: i32 = 0x807f_ffff_u32 as i32;
/// The bit of the exponent that is set from 2 on.
const TWO: i32 = 0x4000_0000;
/// The bits of 2^64. Taking [`TWO`] off gives 2^-64.
const SCALE: i32 = 0x5f80_0000;

/// `a / b`.
pub fn divide(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    match e.float_constant(b) {
        Some(divisor) => by_constant(e, a, divisor),
        None => quotient(e, a, b, ByZero::Infinity),
    }
}

/// By the reciprocal: half an ulp of error in it, half an ulp of the product, is 2 ulp at most.
fn by_constant(e: &mut Emitter<'_, '_>, a: Value, divisor: f32) -> Value {
    let is_power = divisor.to_bits() & 0x7f_ffff == 0;
    let reciprocal = 1.0 / divisor;
    if reciprocal.is_normal() || divisor == 0.0 || divisor.is_infinite() {
        return e.fmul_float(a, reciprocal);
    }
    if is_power && reciprocal.is_finite() {
        return e.fmul_float(a, reciprocal);
    }
    // The reciprocal is out of range or denormal: that of a multiple is not.
    let scale = if divisor.abs() < 1.0 { 2f32.powi(64) } else { 2f32.powi(-64) };
    let scaled = e.fmul_float(a, 1.0 / (divisor * scale));
    e.fmul_float(scaled, scale)
}

/// A float scaled so that it is normal, and the bit that says which way.
pub fn scaled(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Value) {
    let bits = e.bits(a);
    let two = e.and_int(bits, TWO);
    let scale = e.int_isub(SCALE, two);
    let scale = e.float_of(scale);
    (e.fmul(a, scale), two)
}

/// What a division by zero gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByZero {
    /// Infinity, or no number where the dividend is zero too.
    Infinity,
    /// Zero where the dividend is zero too, else some number.
    Finite,
}

/// The quotient of any two floats.
pub fn quotient(e: &mut Emitter<'_, '_>, a: Value, b: Value, by_zero: ByZero) -> Value {
    let divisors = e.floats(b);
    // Dividend: a mantissa from 1 to 2 with the sign, and a power of two, which is zero or
    // infinite where the dividend is.
    let (dividend, dividend_two) = scaled(e, a);
    let bits = e.bits(dividend);
    let mantissa = e.and_int(bits, NO_EXPONENT);
    let mantissa = e.or_int(mantissa, ONE);
    let mantissa = e.float_of(mantissa);
    let power = e.and_int(bits, INFINITY);
    let power = e.float_of(power);

    // Divisor: the opposite of its mantissa.
    let (divisor, divisor_two) = scaled(e, b);
    let bits = e.bits(divisor);
    let negated = e.and_int(bits, NO_EXPONENT);
    let negated = e.xor_int(negated, ONE | i32::MIN);
    let negated = e.float_of(negated);
    let exponent = e.and_int(bits, INFINITY);

    let reciprocal = reciprocal(e, negated);
    let ratio = divide_by(e, mantissa, negated, reciprocal);

    // The exponent still to be brought in, plus 254: that of a product of two powers of two. It is
    // zero, as both factors then are, where the divisor is infinite.
    let total = e.int_isub((381u32 << 23) as i32, exponent);
    let total = e.iadd(total, dividend_two);
    let total = e.isub(total, divisor_two);
    let total = if divisors.is_finite() {
        total
    } else {
        let no_number = e.fmul_float(b, 0.0);
        let no_number = e.bits(no_number);
        let out = e.shl(no_number, 1);
        e.binary(BinaryOp::Lshr, total, out)
    };
    let first = e.lshr(total, 1);
    let first = e.and_int(first, !0x7f_ffff);
    let mut second = e.isub(total, first);
    if by_zero == ByZero::Infinity && divisors.lo <= 0.0 && divisors.hi >= 0.0 {
        let infinity = e.int(INFINITY);
        let factor = e.binary(BinaryOp::Lshr, infinity, exponent);
        second = e.or(second, factor);
    }
    let first = e.float_of(first);
    let second = e.float_of(second);

    let ratio = e.fmul(ratio, power);
    let ratio = e.fmul(ratio, first);
    e.fmul(ratio, second)
}

/// `a - b * floor(a / b)`.
pub fn remainder(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    let is_power = |x: f32| x.is_normal() && x.to_bits() & 0x7f_ffff == 0;
    let ratio = match e.float_constant(b) {
        Some(divisor) if is_power(divisor) => by_constant(e, a, divisor),
        _ => quotient(e, a, b, ByZero::Infinity),
    };
    let whole = round::floor(e, ratio);
    let product = e.fmul(b, whole);
    e.fsub(a, product)
}
