//! Conversions between integers and floats.

use nbcc_ir::{Conversion, ConvertRounding, FloatFormat, IntType, NumType, Rounding};

use super::exact::{Exact, Mode, Number, layout, to_integer, unpack};
use super::float::{finish, pack};

fn mode(rounding: ConvertRounding) -> Mode {
    use ConvertRounding::*;
    Mode::Directed(match rounding {
        Exact | Rn | Rni => Rounding::Rn,
        Rz | Rzi => Rounding::Rz,
        Rm | Rmi => Rounding::Rm,
        Rp | Rpi => Rounding::Rp,
        Rna => return Mode::Away,
    })
}

/// The value of an integer's bits.
fn integer(ty: IntType, bits: u64) -> i128 {
    let unused = 128 - ty.bits();
    let top = u128::from(bits) << unused;
    if ty.is_signed() { top as i128 >> unused } else { (top >> unused) as i128 }
}

fn range(ty: IntType) -> (i128, i128) {
    match ty.is_signed() {
        true => (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1),
        false => (0, (1 << ty.bits()) - 1),
    }
}

/// The bits of an integer, modulo its width.
fn wrap(ty: IntType, value: i128) -> u64 {
    value as u64 & (u64::MAX >> (64 - ty.bits()))
}

fn clamp(ty: IntType, value: i128) -> u64 {
    let (least, greatest) = range(ty);
    wrap(ty, value.clamp(least, greatest))
}

/// The result of a conversion. Of two operands the first becomes the upper half.
pub(super) fn convert(conversion: &Conversion, args: [u64; 2]) -> u64 {
    match conversion.dst {
        NumType::Float(format) if format.is_packed() => {
            let half = Conversion { dst: NumType::Float(format.element()), ..*conversion };
            let [high, low] = args.map(|bits| one(&half, bits));
            high << 16 | low
        }
        _ => one(conversion, args[0]),
    }
}

fn one(conversion: &Conversion, bits: u64) -> u64 {
    let Conversion { dst, src, rounding, ftz, sat, relu } = *conversion;
    let mode = mode(rounding);
    let flushed = |format: FloatFormat| ftz && format == FloatFormat::F32;
    let number = match src {
        NumType::Int(from) => {
            let value = integer(from, bits);
            if let NumType::Int(to) = dst {
                return if sat { clamp(to, value) } else { wrap(to, value) };
            }
            let mantissa = value.unsigned_abs();
            Number::Finite(Exact { negative: value < 0, mantissa, exponent: 0 })
        }
        NumType::Float(from) => {
            let layout = layout(from);
            unpack(layout, if flushed(from) { layout.flush(bits) } else { bits })
        }
    };
    match dst {
        NumType::Int(to) => match number {
            Number::Nan => {
                let zero = src != NumType::Float(FloatFormat::F64) && to.bits() < 64;
                if zero { 0 } else { 1 << (to.bits() - 1) }
            }
            Number::Infinite(negative) => clamp(to, if negative { i128::MIN } else { i128::MAX }),
            Number::Finite(x) => clamp(to, to_integer(mode, x)),
        },
        NumType::Float(to) => {
            use ConvertRounding::{Rmi, Rni, Rpi, Rzi};
            let layout = layout(to);
            let number = match number {
                // Numbers with a large exponent are integers already.
                Number::Finite(x)
                    if matches!(rounding, Rni | Rzi | Rmi | Rpi) && x.exponent < 0 =>
                {
                    let mantissa = to_integer(mode, x).unsigned_abs();
                    Number::Finite(Exact { mantissa, exponent: 0, ..x })
                }
                other => other,
            };
            let ftz = flushed(to);
            finish(layout, pack(layout, mode, ftz, number), ftz, sat, relu)
        }
    }
}
