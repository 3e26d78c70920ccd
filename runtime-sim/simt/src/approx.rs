//! Functions within an error bound (PTX ISA, sections 9.7.3 and 9.7.4: `rcp.approx`, `sin.approx`
//! and their like): the function in binary64, rounded to nearest once, then flushed.

use crate::format::{Format, Rounding};

/// A function of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Reciprocal.
    Rcp,
    /// Square root.
    Sqrt,
    /// Reciprocal of the square root.
    Rsqrt,
    /// Sine of radians.
    Sin,
    /// Cosine of radians.
    Cos,
    /// Logarithm to base 2.
    Lg2,
    /// 2 to the operand.
    Ex2,
    /// Hyperbolic tangent.
    Tanh,
}

fn value(function: Function, x: f64) -> f64 {
    match function {
        Function::Rcp => 1.0 / x,
        Function::Sqrt => x.sqrt(),
        // Of -0 it is negative infinity, which the root of -0 gives by itself.
        Function::Rsqrt => 1.0 / x.sqrt(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Lg2 => x.log2(),
        Function::Ex2 => x.exp2(),
        Function::Tanh => x.tanh(),
    }
}

/// A function of a float of at most 32 bits.
pub fn approx(format: Format, function: Function, ftz: bool, bits: u64) -> u64 {
    let flush = |bits| if ftz { format.flush(bits) } else { bits };
    let x = format.to_f64(flush(bits));
    flush(format.from_f64(Rounding::Nearest, value(function, x)))
}

/// A function of a binary64: `rcp` and `rsqrt`. With `ftz` it sees the upper half of its operand alone, and
/// its result has an upper half only.
pub fn approx_wide(function: Function, ftz: bool, bits: u64) -> u64 {
    let upper = |bits: u64| if ftz { Format::F64.flush(bits & !0 << 32) } else { bits };
    let result = value(function, f64::from_bits(upper(bits)));
    if result.is_nan() { Format::F64.nan() } else { upper(result.to_bits()) }
}

/// A quotient of binary32. Unless it is `full`, a divisor above 2^126 gives zero.
pub fn divide(full: bool, ftz: bool, a: u64, b: u64) -> u64 {
    let flush = |bits| if ftz { Format::F32.flush(bits) } else { bits };
    let (x, y) = (Format::F32.to_f64(flush(a)), Format::F32.to_f64(flush(b)));
    let beyond = !full && y.abs() > f64::from_bits((1023 + 126) << 52) && y.is_finite();
    let quotient = if beyond { x * f64::copysign(0.0, y) } else { x / y };
    flush(Format::F32.from_f64(Rounding::Nearest, quotient))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(function: Function, x: f32) -> f32 {
        f32::from_bits(approx(Format::F32, function, false, x.to_bits().into()) as u32)
    }

    #[test]
    fn special_values_of_the_manual() {
        let inf = f32::INFINITY;
        assert_eq!(f(Function::Rcp, -0.0), -inf);
        assert_eq!(f(Function::Rsqrt, -0.0), -inf);
        assert_eq!(f(Function::Rsqrt, inf), 0.0);
        assert_eq!(f(Function::Lg2, 0.0), -inf);
        assert_eq!(f(Function::Lg2, 1.0).to_bits(), 0);
        assert_eq!(f(Function::Ex2, -inf), 0.0);
        assert_eq!(f(Function::Ex2, 10.0), 1024.0);
        assert_eq!(f(Function::Sqrt, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(f(Function::Sqrt, -1.0).to_bits(), 0x7fff_ffff);
        assert_eq!(f(Function::Sin, inf).to_bits(), 0x7fff_ffff);
        assert_eq!(f(Function::Sin, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(f(Function::Tanh, inf), 1.0);
        // 2^-149 is 2 to -149, and flushed it is zero.
        assert_eq!(f(Function::Ex2, -149.0).to_bits(), 1);
        assert_eq!(approx(Format::F32, Function::Ex2, true, (-149.0_f32).to_bits().into()), 0);
    }

    #[test]
    fn quotients() {
        let d = |full, a: f32, b: f32| {
            f32::from_bits(divide(full, false, a.to_bits().into(), b.to_bits().into()) as u32)
        };
        assert_eq!(d(false, 1.0, 3.0), 1.0 / 3.0);
        let big = f32::from_bits((127 + 127) << 23);
        assert_eq!(d(false, -big, big).to_bits(), 0x8000_0000);
        assert_eq!(d(true, -big, big), -1.0);
        assert_eq!(d(false, f32::INFINITY, big).to_bits(), 0x7fff_ffff);
        let limit = f32::from_bits((127 + 126) << 23);
        assert_eq!(d(false, limit, limit), 1.0);
    }

    #[test]
    fn upper_halves() {
        let three = 3.0_f64.to_bits();
        assert_eq!(approx_wide(Function::Rcp, true, three | 0xffff), 0x3fd5_5555_0000_0000);
        assert_eq!(approx_wide(Function::Rcp, true, 1), Format::F64.infinity());
        assert_eq!(approx_wide(Function::Rsqrt, true, 4.0_f64.to_bits()), 0.5_f64.to_bits());
        // `rsqrt.approx.f64` computes with all bits, and with subnormal numbers.
        let third = approx_wide(Function::Rsqrt, false, 9.0_f64.to_bits());
        assert_eq!(f64::from_bits(third), 1.0 / 3.0);
        let least = approx_wide(Function::Rsqrt, false, 4);
        assert_eq!(f64::from_bits(least), 2f64.powi(536));
    }
}
