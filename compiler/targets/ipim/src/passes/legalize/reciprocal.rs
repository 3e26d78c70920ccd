//! The reciprocal of a float by Newton's method, as a start for division.
//!
//! Taking a float's bits from a constant gives its reciprocal within 5.1 % (as Blinn, "Floating-
//! point tricks", 1997, does for square roots). A step `r (c - d r)` with `c` a little above 2
//! centres the error that remains, half the square of the one before.

use nbcc_ir::Value;

use super::emitter::{Emitter, SIGN};

/// The bits of a number and those of its reciprocal add up to about this.
const SUM_OF_BITS: i32 = 0x7ef3_1000;
/// Centres the error of the first step: 0.0013.
const FIRST: f32 = 2.001_31;
/// Centres the error of the second: 8.6e-7.
const SECOND: f32 = 2.000_001;

/// About `1 / d`, within 1.1e-6, for `-d`. `d` is of either sign and its magnitude between 2^-125
/// and 2^125.
pub fn reciprocal(e: &mut Emitter<'_, '_>, negated: Value) -> Value {
    newton(e, negated, SECOND)
}

/// The same between 2.6e-6 and 1e-7 less than `1 / d`.
pub fn reciprocal_below(e: &mut Emitter<'_, '_>, negated: Value) -> Value {
    newton(e, negated, 2.0 - 4.0 / 8388608.0)
}

fn newton(e: &mut Emitter<'_, '_>, negated: Value, second: f32) -> Value {
    let bits = e.bits(negated);
    let start = e.int_isub(SUM_OF_BITS ^ SIGN, bits);
    let mut r = e.float_of(start);
    for c in [FIRST, second] {
        let c = e.float(c);
        let factor = e.mac(negated, r, c);
        r = e.fmul(r, factor);
    }
    r
}
