//! Float division, within 2 ulp of the correctly rounded quotient for all operands.
//!
//! Dividend and divisor are scaled by 2^64 or 2^-64, after which denormal numbers are normal, and
//! the divisor is taken apart into mantissa and exponent. The quotient by the mantissa is made in
//! two digits, as with pencil and paper: twelve bits first, whose product with the divisor's halves
//! leaves an exact remainder, then the remainder times the reciprocal. Their sum is nearly always
//! correctly rounded, and exact where the quotient is a float. The exponents come back as factors,
//! the last of which rounds where the result is denormal.

use nbcc_ir::{BinaryOp, Value};

use super::emitter::Emitter;
use super::hyperbolic::with_sign_of;
use super::polynomial::{divide_by, rest_of_division, upper};
use super::reciprocal::reciprocal;
use super::round;

const INFINITY: i32 = 0x7f80_0000;
/// The NaN that operations make.
const NAN: i32 = 0x7fc0_0000;
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
        None => {
            let cases = Cases::of(e, a, b);
            quotient(e, a, b, cases)
        }
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

/// What operands a division must get right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cases {
    /// A divisor of zero: infinity, or no number where the dividend is zero too. Without it zero
    /// where the dividend is zero too, else some number.
    pub by_zero: bool,
    /// An infinite dividend.
    pub infinite: bool,
    /// A dividend of -0.
    pub negative_zero: bool,
}

impl Cases {
    /// What two operands may be.
    fn of(e: &Emitter<'_, '_>, a: Value, b: Value) -> Cases {
        let (dividends, divisors) = (e.floats(a), e.floats(b));
        Cases {
            by_zero: divisors.lo <= 0.0 && divisors.hi >= 0.0,
            infinite: !dividends.is_finite(),
            negative_zero: dividends.negative_zero,
        }
    }
}

/// The quotient of any two floats.
pub fn quotient(e: &mut Emitter<'_, '_>, a: Value, b: Value, cases: Cases) -> Value {
    let divisors = e.floats(b);
    let (dividend, dividend_two) = scaled(e, a);

    // Divisor: the opposite of its mantissa.
    let (divisor, divisor_two) = scaled(e, b);
    let bits = e.bits(divisor);
    let negated = e.and_int(bits, NO_EXPONENT);
    let negated = e.xor_int(negated, ONE | i32::MIN);
    let negated = e.float_of(negated);
    let exponent = e.and_int(bits, INFINITY);

    let reciprocal = reciprocal(e, negated);
    let ratio = ratio(e, dividend, negated, reciprocal, cases);

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
    if cases.by_zero {
        let infinity = e.int(INFINITY);
        let factor = e.binary(BinaryOp::Lshr, infinity, exponent);
        second = e.or(second, factor);
    }
    if divisors.nan {
        // The product that the scaled divisor is has one NaN only.
        let nan = e.int(NAN);
        let other = e.xor(bits, nan);
        let factor = e.binary(BinaryOp::Lshr, nan, other);
        second = e.or(second, factor);
    }
    let first = e.float_of(first);
    let second = e.float_of(second);

    let ratio = e.fmul(ratio, first);
    e.fmul(ratio, second)
}

/// `n / d` for `-d`, as [`divide_by`] gives it, also for infinite `n` and for -0.
fn ratio(
    e: &mut Emitter<'_, '_>,
    n: Value,
    negated: Value,
    reciprocal: Value,
    cases: Cases,
) -> Value {
    if !(cases.infinite || cases.negative_zero) {
        return divide_by(e, n, negated, reciprocal);
    }
    let first = e.fmul(n, reciprocal);
    let mut rest = rest_of_division(e, n, negated, first);
    if cases.infinite {
        // There is no rest of infinity.
        let first = upper(e, first);
        let no_number = e.fmul_float(first, 0.0);
        let no_number = e.bits(no_number);
        let out = e.shl(no_number, 1);
        let bits = e.bits(rest);
        let bits = e.binary(BinaryOp::Lshr, bits, out);
        rest = e.float_of(bits);
    }
    let digits = upper(e, first);
    let ratio = e.mac(rest, reciprocal, digits);
    if !cases.negative_zero {
        return ratio;
    }
    // The sum of -0 and a rest of zero has lost the sign.
    with_sign_of(e, ratio, first)
}

/// `a - b * floor(a / b)`.
pub fn remainder(e: &mut Emitter<'_, '_>, a: Value, b: Value) -> Value {
    let is_power = |x: f32| x.is_normal() && x.to_bits() & 0x7f_ffff == 0;
    let ratio = match e.float_constant(b) {
        Some(divisor) if is_power(divisor) => by_constant(e, a, divisor),
        _ => {
            let cases = Cases::of(e, a, b);
            quotient(e, a, b, cases)
        }
    };
    let whole = round::floor(e, ratio);
    let product = e.fmul(b, whole);
    e.fsub(a, product)
}
