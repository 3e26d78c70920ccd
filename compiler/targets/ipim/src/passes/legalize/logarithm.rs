//! The natural logarithm.
//!
//! `x = 2^n m` with `m` between the roots of 1/2 and 2, and a minimax polynomial in `m - 1` (as in
//! Cephes, Moshier, 1989). Where `n` is zero the result is that polynomial, accurate also where it
//! is small.

use nbcc_ir::{BinaryOp, Value};

use super::divide_float::scaled;
use super::emitter::Emitter;
use super::polynomial::polynomial;

/// The bits of the root of 1/2.
const ROOT_OF_HALF: i32 = 0x3f35_04f3;
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// A positive number as `2^exponent mantissa`.
pub struct Decomposed {
    /// An integral float.
    pub exponent: Value,
    /// Between the roots of 1/2 and 2.
    pub mantissa: Value,
    /// The number scaled by a power of two, and not denormal: zero exactly where the number is.
    pub scaled: Value,
}

/// Takes a positive number apart. Zero and infinity have the mantissa 1, a NaN some.
pub fn decompose(e: &mut Emitter<'_, '_>, a: Value) -> Decomposed {
    let (scaled, two) = scaled(e, a);
    let bits = e.bits(scaled);
    let above = e.iadd_int(bits, -ROOT_OF_HALF);
    let exponent = e.and_int(above, !0x7f_ffff);
    let mantissa = e.isub(bits, exponent);
    let mantissa = e.float_of(mantissa);
    // The scale was 2^64, or less by 128 where the operand is 2 or more.
    let exponent = e.iadd(exponent, two);
    let exponent = e.ashr(exponent, 23);
    let exponent = e.iadd_int(exponent, 0x4b40_0000);
    let exponent = e.float_of(exponent);
    let bias = e.float(1.5 * 8_388_608.0 + 64.0);
    Decomposed { exponent: e.fsub(exponent, bias), mantissa, scaled }
}

/// The natural logarithm, within 2 ulp.
pub fn log(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let floats = e.floats(a);
    let negative = floats.lo < 0.0;
    let a = if negative { e.without_negative_zero(a) } else { a };
    let Decomposed { exponent: n, mantissa, scaled } = decompose(e, a);
    let one = e.float(1.0);
    let f = e.fsub(mantissa, one);
    let square = e.fmul(f, f);
    // (log(1 + f) - f + f^2 / 2) / f^3.
    let q = polynomial(
        e,
        f,
        &[
            0.086_952_93,
            -0.142_660_23,
            0.149_158_33,
            -0.165_778_06,
            0.199_629_89,
            -0.250_013_3,
            0.333_339_12,
        ],
    );
    let cubic = e.fmul(q, f);
    let half = e.float(-0.5);
    let low = e.fmul_float(n, LN2_LOW);
    let cubic = e.mac(cubic, square, low);
    let rest = e.mac(half, square, cubic);
    let sum = e.fadd(f, rest);
    let high = e.float(LN2_HIGH);
    let mut result = e.mac(n, high, sum);
    if negative {
        // Less infinity of zero. What is shifted has the sign of the operand: nothing is left of it
        // where that is positive, and where it is negative ones, which are no number.
        let bits = e.bits(scaled);
        let infinity = e.or_int(bits, f32::INFINITY.to_bits() as i32);
        let pole = e.binary(BinaryOp::Ashr, infinity, bits);
        let pole = e.float_of(pole);
        result = e.fsub(result, pole);
    } else if floats.lo <= 0.0 {
        // Minus infinity of zero.
        let minus_infinity = e.int(f32::NEG_INFINITY.to_bits() as i32);
        let bits = e.bits(scaled);
        let amount = e.shl(bits, 1);
        let pole = e.binary(BinaryOp::Lshr, minus_infinity, amount);
        let pole = e.float_of(pole);
        result = e.fadd(result, pole);
    }
    if !floats.is_finite() || floats.nan {
        // Infinity of infinity, no number of none; of all other numbers a term too small to matter.
        let tiny = e.float(2f32.powi(-100));
        let product = e.fmul(a, tiny);
        result = e.mac(product, tiny, result);
    }
    result
}
