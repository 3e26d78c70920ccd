//! Hyperbolic functions, from the even and the odd part of `e^r`.
//!
//! With `x = n ln 2 + r`, `e^x` is `2^n (even + odd)` and `e^-x` is `2^-n (even - odd)`. For small
//! `x` the even parts cancel, which leaves the sine as accurate as the odd part is.

use nbcc_ir::Value;

use super::emitter::{Emitter, SIGN};
use super::exponential::{limited, reduced};
use super::polynomial::{divide_by, polynomial};
use super::reciprocal::reciprocal;

/// Beyond this magnitude sine and cosine are infinite.
const LIMIT: f32 = 89.7;
/// Beyond this magnitude the tangent is 1.
const TANH_LIMIT: f32 = 10.0;

/// Hyperbolic cosine, within 2 ulp.
pub fn cosh(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let x = limited(e, a, LIMIT);
    let x = e.fabs(x);
    let [half, _] = parts(e, x, 2);
    e.fadd(half, half)
}

/// Hyperbolic sine, within 2 ulp.
pub fn sinh(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let x = limited(e, a, LIMIT);
    let x = e.fabs(x);
    let [_, half] = parts(e, x, 2);
    let magnitude = e.fadd(half, half);
    with_sign_of(e, magnitude, a)
}

/// Hyperbolic tangent, within 2 ulp.
pub fn tanh(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let x = limited(e, a, TANH_LIMIT);
    let x = e.fabs(x);
    let [cosh, sinh] = parts(e, x, 1);
    let negated = e.fneg(cosh);
    let reciprocal = reciprocal(e, negated);
    let magnitude = divide_by(e, sinh, negated, reciprocal);
    with_sign_of(e, magnitude, a)
}

/// A magnitude with the sign of `a`.
pub fn with_sign_of(e: &mut Emitter<'_, '_>, magnitude: Value, a: Value) -> Value {
    let bits = e.bits(a);
    let sign = e.and_int(bits, SIGN);
    let magnitude = e.bits(magnitude);
    let signed = e.or(magnitude, sign);
    e.float_of(signed)
}

/// Cosine and sine of the magnitude `x`, times 2 to the power of 1 less `shift`.
fn parts(e: &mut Emitter<'_, '_>, x: Value, shift: i32) -> [Value; 2] {
    let (shifted, r) = reduced(e, x);
    let square = e.fmul(r, r);
    // (cosh(r) - 1) / r^2 and (sinh(r) / r - 1) / r^2.
    let even = polynomial(e, square, &[0.001_393_543_8, 0.041_666_46, 0.5]);
    let even = e.fmul(even, square);
    let odd = polynomial(e, square, &[0.008_366_717, 0.166_665_42]);
    let odd = e.fmul(odd, square);
    let odd = e.mac(odd, r, r);
    // The bits of 2^(n - shift) and 2^(-n - shift), from the low bits n + 254.
    let bias = 127 - shift;
    let bits = e.bits(shifted);
    let up = e.shl(bits, 23);
    let up = e.iadd_int(up, (bias - 254) << 23);
    let mut down = e.int_isub((2 * bias) << 23, up);
    if shift == 2 {
        // Past the least exponent it is nothing next to the other.
        let sign = e.sign(down);
        let regular = e.not(sign);
        down = e.and(down, regular);
    }
    let up = e.float_of(up);
    let down = e.float_of(down);
    let sum = e.fadd(up, down);
    let difference = e.fsub(up, down);
    // The even part is one more. Sum and difference, exact for small `n`, come last.
    let cosh = e.fmul(even, sum);
    let cosh = e.mac(odd, difference, cosh);
    let cosh = e.fadd(cosh, sum);
    let sinh = e.fmul(even, difference);
    let sinh = e.mac(odd, sum, sinh);
    [cosh, e.fadd(sinh, difference)]
}
