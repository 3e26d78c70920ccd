//! Conversions between all types (PTX ISA, section 9.7.9.21, `cvt`).

use crate::format::{Format, Rounding};

/// A type of an operand or result, in the low bits of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer of that many bits, signed or not.
    Int {
        /// 8, 16, 32 or 64.
        bits: u32,
        /// Whether it is signed.
        signed: bool,
    },
    /// A float.
    Float(Format),
}

/// How a number becomes an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToInteger {
    /// The nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward negative infinity.
    Down,
    /// Toward positive infinity.
    Up,
}

/// What a conversion does beside changing the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The type of the result.
    pub to: Type,
    /// The type of the operand.
    pub from: Type,
    /// How a result that is a float is rounded.
    pub rounding: Rounding,
    /// Where a float is rounded to an integer (whatever the type of the result).
    pub integer: Option<ToInteger>,
    /// Subnormal binary32 operands and results become zeros of their sign.
    pub ftz: bool,
    /// The result is limited: an integer to the range of its type, a float to 0..1.
    pub sat: bool,
    /// A negative result becomes 0.
    pub relu: bool,
}

fn to_integer(how: ToInteger, x: f64) -> f64 {
    match how {
        ToInteger::Nearest => x.round_ties_even(),
        ToInteger::Zero => x.trunc(),
        ToInteger::Down => x.floor(),
        ToInteger::Up => x.ceil(),
    }
}

/// The value of an integer's low bits.
fn integer_value(value: u64, bits: u32, signed: bool) -> i128 {
    let up = 64 - bits;
    if signed { i128::from((value << up) as i64 >> up) } else { i128::from(value << up >> up) }
}

/// The least and greatest integer of a type.
fn range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The result in 64 bits: integers are extended by their sign, floats are their bits.
pub fn convert(conversion: &Conversion, value: u64) -> u64 {
    match (conversion.from, conversion.to) {
        (Type::Int { bits, signed }, Type::Int { bits: to, signed: to_signed }) => {
            let value = integer_value(value, bits, signed);
            let (least, most) = range(to, to_signed);
            let value = if conversion.sat { value.clamp(least, most) } else { value };
            integer_value(value as u64, to, to_signed) as u64
        }
        (Type::Int { bits, signed }, Type::Float(format)) => {
            let value = integer_value(value, bits, signed);
            let magnitude = value.unsigned_abs() as u64;
            let out = format.pack(conversion.rounding, value < 0, magnitude, 0, false);
            finish(conversion, format, out)
        }
        (Type::Float(format), Type::Int { bits, signed }) => {
            let value = flush(conversion, format, value);
            if format.is_nan(value) {
                let zero = format != Format::F64 && bits <= 32;
                let out = if zero { 0 } else { 1 << (bits - 1) };
                return integer_value(out, bits, signed) as u64;
            }
            let how = conversion.integer.unwrap_or(ToInteger::Zero);
            let x = to_integer(how, format.to_f64(value));
            let (least, most) = range(bits, signed);
            // Beyond 2^127 it is out of any range.
            (x as i128).clamp(least, most) as u64
        }
        (Type::Float(from), Type::Float(to)) => {
            let value = flush(conversion, from, value);
            if from.is_nan(value) {
                return finish(conversion, to, to.nan());
            }
            let x = from.to_f64(value);
            let x = conversion.integer.map_or(x, |how| to_integer(how, x));
            let out = match conversion.ftz && to == Format::F32 {
                true => to.from_f64_flushed(conversion.rounding, x),
                false => to.from_f64(conversion.rounding, x),
            };
            finish(conversion, to, out)
        }
    }
}

fn flush(conversion: &Conversion, format: Format, bits: u64) -> u64 {
    if conversion.ftz && format == Format::F32 { format.flush(bits) } else { bits }
}

fn finish(conversion: &Conversion, format: Format, bits: u64) -> u64 {
    let bits = flush(conversion, format, bits);
    if format.is_nan(bits) {
        return if conversion.sat { 0 } else { format.nan() };
    }
    if bits & format.sign() != 0 && (conversion.sat || conversion.relu) {
        return 0;
    }
    if conversion.sat { bits.min(format.one()) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn int(bits: u32, signed: bool) -> Type {
        Type::Int { bits, signed }
    }

    fn plain(to: Type, from: Type) -> Conversion {
        Conversion {
            to,
            from,
            rounding: Rounding::Nearest,
            integer: None,
            ftz: false,
            sat: false,
            relu: false,
        }
    }

    const F32: Type = Type::Float(Format::F32);
    const F64: Type = Type::Float(Format::F64);
    const F16: Type = Type::Float(Format::F16);

    #[test]
    fn integers() {
        assert_eq!(convert(&plain(int(32, true), int(8, true)), 0x180), -128_i64 as u64);
        assert_eq!(convert(&plain(int(8, false), int(32, true)), -1_i64 as u64), 0xff);
        let sat = |to, from| Conversion { sat: true, ..plain(to, from) };
        assert_eq!(convert(&sat(int(8, false), int(32, true)), -5_i64 as u64), 0);
        assert_eq!(convert(&sat(int(8, true), int(32, true)), 1000), 127);
        assert_eq!(convert(&sat(int(32, true), int(64, false)), u64::MAX), 0x7fff_ffff);
    }

    #[test]
    fn integers_to_floats_round_once() {
        let x = (1 << 24) + 1;
        let to =
            |rounding, value| convert(&Conversion { rounding, ..plain(F32, int(32, true)) }, value);
        assert_eq!(to(Rounding::Nearest, x), 0x4b80_0000);
        assert_eq!(to(Rounding::Up, x), 0x4b80_0001);
        assert_eq!(to(Rounding::Down, (-(x as i64)) as u64), 0xcb80_0001);
        // A sticky bit 40 places below: 2^63 + 1 upward.
        let wide = Conversion { rounding: Rounding::Up, ..plain(F32, int(64, false)) };
        assert_eq!(convert(&wide, (1 << 63) + 1), 0x5f00_0001);
        assert_eq!(convert(&plain(F64, int(64, false)), u64::MAX), 0x43f0_0000_0000_0000);
        assert_eq!(convert(&plain(F16, int(32, false)), 65520), 0x7c00);
        for value in [0_u64, 1, 77, 0xffff_ffff, 0x8000_0001, u64::MAX, 1 << 63, 0x7fff_ff80] {
            let found = convert(&plain(F32, int(64, true)), value);
            assert_eq!(found as u32, (value as i64 as f32).to_bits());
            assert_eq!(convert(&plain(F64, int(64, false)), value), (value as f64).to_bits());
        }
    }

    #[test]
    fn floats_to_integers() {
        let to = |bits, signed, integer, x: f32| {
            let c = Conversion { integer: Some(integer), ..plain(int(bits, signed), F32) };
            convert(&c, x.to_bits().into())
        };
        assert_eq!(to(32, true, ToInteger::Nearest, 2.5), 2);
        assert_eq!(to(32, true, ToInteger::Up, 2.1), 3);
        assert_eq!(to(32, true, ToInteger::Down, -2.1), -3_i64 as u64);
        assert_eq!(to(32, true, ToInteger::Zero, -2.9), -2_i64 as u64);
        assert_eq!(to(32, true, ToInteger::Zero, 3e9), 0x7fff_ffff);
        assert_eq!(to(32, false, ToInteger::Zero, -1.0), 0);
        assert_eq!(to(8, true, ToInteger::Zero, -1000.0), -128_i64 as u64);
        assert_eq!(to(64, false, ToInteger::Zero, f32::INFINITY), u64::MAX);
        assert_eq!(to(32, true, ToInteger::Zero, f32::NAN), 0);
        assert_eq!(to(64, true, ToInteger::Zero, f32::NAN), 1 << 63);
        let wide = Conversion { integer: Some(ToInteger::Zero), ..plain(int(32, true), F64) };
        assert_eq!(convert(&wide, f64::NAN.to_bits()) as u32, 0x8000_0000);
        // The least subnormal goes up to 1, but not once it is flushed.
        let up = Conversion { integer: Some(ToInteger::Up), ..plain(int(32, true), F32) };
        assert_eq!(convert(&up, 1), 1);
        assert_eq!(convert(&Conversion { ftz: true, ..up }, 1), 0);
    }

    #[test]
    fn floats() {
        assert_eq!(convert(&plain(F16, F32), 1.0_f32.to_bits().into()), 0x3c00);
        assert_eq!(convert(&plain(F32, F16), 0x0001), 0x3380_0000);
        assert_eq!(convert(&plain(F32, F64), f64::NAN.to_bits()), 0x7fff_ffff);
        assert_eq!(convert(&plain(F64, F32), 0xffc0_0001), 0x7ff8_0000_0000_0000);
        let sat = Conversion { sat: true, ..plain(F32, F32) };
        assert_eq!(convert(&sat, 2.0_f32.to_bits().into()), 0x3f80_0000);
        assert_eq!(convert(&sat, 0x8000_0000), 0);
        assert_eq!(convert(&sat, 0x7fc0_0000), 0);
        let round = Conversion { integer: Some(ToInteger::Nearest), ..plain(F32, F32) };
        assert_eq!(convert(&round, (-0.4_f32).to_bits().into()), 0x8000_0000);
        let relu = Conversion { relu: true, ..plain(F16, F32) };
        assert_eq!(convert(&relu, (-3.0_f32).to_bits().into()), 0);
        assert_eq!(convert(&relu, f32::NAN.to_bits().into()), 0x7fff);
        // The least normal halved: a subnormal that is flushed to its sign.
        let ftz = Conversion { ftz: true, ..plain(F32, F64) };
        assert_eq!(convert(&ftz, (-f64::from(f32::MIN_POSITIVE) / 2.0).to_bits()), 0x8000_0000);
    }
}
