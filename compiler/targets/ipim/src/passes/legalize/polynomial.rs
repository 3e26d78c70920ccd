//! Polynomials, and pairs of floats that stand for their sum.

use nbcc_ir::Value;

use super::emitter::Emitter;

/// Sign, exponent and the upper eleven bits of the mantissa: twelve bits of precision. The product
/// of two such floats is exact.
const UPPER: i32 = 0xffff_f000_u32 as i32;

/// A polynomial by Horner's rule, the coefficient of the highest power first.
pub fn polynomial(e: &mut Emitter<'_, '_>, x: Value, coefficients: &[f32]) -> Value {
    let mut value = e.float(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        let coefficient = e.float(coefficient);
        value = e.mac(value, x, coefficient);
    }
    value
}

/// A float cut to twelve bits.
pub fn upper(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let bits = e.bits(a);
    let bits = e.and_int(bits, UPPER);
    e.float_of(bits)
}

/// A float as the sum of two floats of twelve bits.
pub fn halves(e: &mut Emitter<'_, '_>, a: Value) -> (Value, Value) {
    let high = upper(e, a);
    (high, e.fsub(a, high))
}

/// `n / d` for `-d`, nearly correctly rounded, from a reciprocal of `d` within 2^-13. Twelve bits
/// of the quotient leave an exact rest, which the reciprocal turns into the others. The rest
/// should not fall below 2^-126.
pub fn divide_by(e: &mut Emitter<'_, '_>, n: Value, negated: Value, reciprocal: Value) -> Value {
    let first = e.fmul(n, reciprocal);
    let rest = rest_of_division(e, n, negated, first);
    let digits = upper(e, first);
    e.mac(rest, reciprocal, digits)
}

/// What twelve bits of the quotient `first` leave of `n / d`, for `-d`: exact.
pub fn rest_of_division(e: &mut Emitter<'_, '_>, n: Value, negated: Value, first: Value) -> Value {
    let digits = upper(e, first);
    let (high, low) = halves(e, negated);
    let rest = e.mac(digits, high, n);
    e.mac(digits, low, rest)
}
