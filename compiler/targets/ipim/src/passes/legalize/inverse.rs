//! Inverse trigonometric functions.
//!
//! Arcus sine and cosine beyond 1/2 through `asin(x) = pi/2 - 2 asin(root((1 - x) / 2))`, arcus
//! tangent beyond 1 through `atan(x) = pi/2 - atan(1 / x)`. The polynomials are minimax.

use nbcc_ir::Value;

use super::choose::choose;
use super::divide_float::{Cases, quotient};
use super::emitter::{Emitter, Mask, SIGN};
use super::exponential::at_most;
use super::hyperbolic::with_sign_of;
use super::polynomial::{divide_by, polynomial};
use super::reciprocal::reciprocal;
use super::sqrt::root_near_one;

const HALF_PI: f32 = std::f32::consts::FRAC_PI_2;
/// What is missing of pi/2, and of pi, over what is there.
const MISSING: f32 = -2.782_753_4e-8;

/// What arcus sine and cosine share.
struct Arc {
    /// Where the operand's magnitude is at most 1/2.
    small: Mask,
    /// The arcus sine of the magnitude, or of the root of half of what is missing to 1.
    angle: Value,
}

fn arc(e: &mut Emitter<'_, '_>, a: Value) -> Arc {
    let magnitude = e.fabs(a);
    let half = e.float(0.5);
    let over = e.fsub(half, magnitude);
    let small = Mask::plain(e.fsign(over)).opposite();
    let minus_half = e.float(-0.5);
    let missing = e.mac(magnitude, minus_half, half);
    let mut root = root_near_one(e, missing);
    if e.floats(a).magnitude() > 1.0 {
        // Less than nothing is missing beyond 1. A mask is no number.
        let outside = e.fsign(missing);
        let bits = e.bits(root);
        let bits = e.or(bits, outside);
        root = e.float_of(bits);
    }
    let x = choose(e, small, magnitude, root);
    let square = e.fmul(x, x);
    // (asin(x) / x - 1) / x^2 up to 1/2.
    let q = polynomial(
        e,
        square,
        &[0.042_227_574, 0.024_145_385, 0.045_476_887, 0.074_952_49, 0.166_667_54],
    );
    let q = e.fmul(q, square);
    Arc { small, angle: e.mac(q, x, x) }
}

/// Arcus sine, within 2 ulp.
pub fn asin(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let Arc { small, angle } = arc(e, a);
    let low = e.float(HALF_PI * MISSING);
    let twice = e.float(-2.0);
    let rest = e.mac(angle, twice, low);
    let high = e.float(HALF_PI);
    let large = e.fadd(rest, high);
    let magnitude = choose(e, small, angle, large);
    with_sign_of(e, magnitude, a)
}

/// Arcus cosine, within 2 ulp.
pub fn acos(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let Arc { small, angle } = arc(e, a);
    let twice = e.fadd(angle, angle);
    let angle = choose(e, small, angle, twice);
    from_axis(e, angle, small, a)
}

/// The angle of a point in the upper half plane, from its angle to the nearer axis: the y axis
/// where the mask says so. `x` has the sign of its coordinate.
fn from_axis(e: &mut Emitter<'_, '_>, angle: Value, steep: Mask, x: Value) -> Value {
    let x = e.bits(x);
    let left = Mask::plain(e.sign(x));
    let (half, whole, zero) = (e.float(HALF_PI), e.float(2.0 * HALF_PI), e.float(0.0));
    let axis = choose(e, left, whole, zero);
    let axis = choose(e, steep, half, axis);
    // Taken off the y axis on the right, and off the x axis on the left.
    let steep = e.mask_value(steep);
    let turned = e.xor(x, steep);
    let sign = e.and_int(turned, SIGN);
    let angle = e.bits(angle);
    let angle = e.xor(angle, sign);
    let angle = e.float_of(angle);
    let missing = e.float(MISSING);
    let angle = e.mac(axis, missing, angle);
    e.fadd(angle, axis)
}

/// Arcus tangent of a magnitude up to 1.
fn atan_kernel(e: &mut Emitter<'_, '_>, x: Value) -> Value {
    let square = e.fmul(x, x);
    // (atan(x) / x - 1) / x^2.
    let q = polynomial(
        e,
        square,
        &[
            0.002_919_469_3,
            -0.016_363_32,
            0.043_204_86,
            -0.075_516_656,
            0.106_657_7,
            -0.142_110_02,
            0.199_937_67,
            -0.333_331_53,
        ],
    );
    let q = e.fmul(q, square);
    e.mac(q, x, x)
}

/// Arcus tangent, within 3 ulp.
pub fn atan(e: &mut Emitter<'_, '_>, a: Value) -> Value {
    let magnitude = e.fabs(a);
    if e.floats(a).magnitude() <= 1.0 {
        let angle = atan_kernel(e, magnitude);
        return with_sign_of(e, angle, a);
    }
    let one = e.float(1.0);
    let over = e.fsub(one, magnitude);
    let large = Mask::plain(e.fsign(over));
    // 1 over the magnitude, which is limited to where the reciprocal is good.
    let divisor = at_most(e, magnitude, 2f32.powi(100));
    let negated = e.fneg(divisor);
    let reciprocal = reciprocal(e, negated);
    let inverse = divide_by(e, one, negated, reciprocal);
    let x = choose(e, large, inverse, magnitude);
    let angle = atan_kernel(e, x);
    let low = e.float(HALF_PI * MISSING);
    let rest = e.fsub(low, angle);
    let high = e.float(HALF_PI);
    let outer = e.fadd(rest, high);
    let angle = choose(e, large, outer, angle);
    with_sign_of(e, angle, a)
}

/// Arcus tangent of `y / x` in all quadrants, within 3 ulp.
pub fn atan2(e: &mut Emitter<'_, '_>, y: Value, x: Value) -> Value {
    let (y_size, x_size) = (e.fabs(y), e.fabs(x));
    let (y_size, x_size) = (e.bits(y_size), e.bits(x_size));
    let difference = e.isub(x_size, y_size);
    let steep = e.sign(difference);
    let kept = e.and(difference, steep);
    let lesser = e.iadd(y_size, kept);
    let greater = e.isub(x_size, kept);
    // Where both are infinite, the greatest floats stand for them.
    let over = e.iadd_int(lesser, 0x80_0000);
    let infinite = e.lshr(over, 31);
    let lesser = e.isub(lesser, infinite);
    let greater = e.isub(greater, infinite);
    let (lesser, greater) = (e.float_of(lesser), e.float_of(greater));
    // Where both are zero the ratio is to be zero too.
    let cases = Cases { by_zero: false, infinite: false, negative_zero: false };
    let ratio = quotient(e, lesser, greater, cases);
    let angle = atan_kernel(e, ratio);
    let angle = from_axis(e, angle, Mask::plain(steep), x);
    with_sign_of(e, angle, y)
}
