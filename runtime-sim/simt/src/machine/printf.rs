//! `vprintf` of CUDA: a format and its arguments in memory, each argument at a multiple of its
//! size (C standard, section 7.21.6.1; CUDA programming guide, formatted output).

use std::fmt::Write as _;

use crate::machine::access::Spaces;
use crate::machine::fault::FaultKind;

/// A conversion of a format.
#[derive(Clone, Debug, Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
}

/// The most characters of a conversion.
const MAX_WIDTH: usize = 4096;

/// What a launch prints beyond so many bytes is dropped, as a device's buffer does.
pub const MAX_OUTPUT: usize = 1 << 26;

struct Arguments<'a, 'b> {
    spaces: &'a mut Spaces<'b>,
    lane: usize,
    at: u64,
    taken: u32,
}

impl Arguments<'_, '_> {
    fn take(&mut self, bytes: u64) -> Result<u64, FaultKind> {
        self.at = self.at.wrapping_add(bytes - 1) & !(bytes - 1);
        let value = self.spaces.number(self.lane, self.at, bytes as usize)?;
        self.at = self.at.wrapping_add(bytes);
        self.taken += 1;
        Ok(value)
    }
}

/// Prints; the number of arguments is returned.
///
/// # Errors
/// Format or arguments cannot be read.
pub fn print(
    spaces: &mut Spaces<'_>,
    lane: usize,
    format: u64,
    arguments: u64,
    output: &mut Vec<u8>,
) -> Result<u32, FaultKind> {
    let format = spaces.text(lane, format)?;
    let full = output.len() >= MAX_OUTPUT;
    let start = output.len();
    let mut arguments = Arguments { spaces, lane, at: arguments, taken: 0 };
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        at += 1;
        if byte != b'%' {
            output.push(byte);
            continue;
        }
        let percent = at - 1;
        let mut spec = Spec::default();
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let width = number(&format, &mut at, &mut arguments)?;
        if let Some(width) = width {
            spec.minus |= width < 0;
            spec.width = (width.unsigned_abs() as usize).min(MAX_WIDTH);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            let precision = number(&format, &mut at, &mut arguments)?.unwrap_or(0);
            spec.precision = usize::try_from(precision).ok().map(|p| p.min(MAX_WIDTH));
        }
        let mut narrow = 64;
        while let Some(modifier) = format.get(at) {
            match modifier {
                b'l' | b'j' | b'z' | b't' | b'L' | b'q' => spec.wide = true,
                b'h' => narrow = if narrow == 16 { 8 } else { 16 },
                _ => break,
            }
            at += 1;
        }
        let Some(&conversion) = format.get(at) else {
            output.extend_from_slice(&format[percent..]);
            break;
        };
        at += 1;
        match conversion {
            b'%' => output.push(b'%'),
            b'c' => {
                let value = arguments.take(4)? as u8;
                pad(output, &spec, &[], &[value], false);
            }
            b's' => {
                let address = arguments.take(8)?;
                let mut text = arguments.spaces.text(lane, address)?;
                text.truncate(spec.precision.unwrap_or(usize::MAX));
                pad(output, &spec, &[], &text, false);
            }
            b'd' | b'i' => {
                let bits = if spec.wide { 64 } else { 32_u32.min(narrow) };
                let raw = arguments.take(if spec.wide { 8 } else { 4 })?;
                let value = (raw << (64 - bits)) as i64 >> (64 - bits);
                integer(output, &spec, value < 0, value.unsigned_abs().to_string(), true);
            }
            b'u' | b'x' | b'X' | b'o' => {
                let bits = if spec.wide { 64 } else { 32_u32.min(narrow) };
                let raw = arguments.take(if spec.wide { 8 } else { 4 })?;
                let value = raw << (64 - bits) >> (64 - bits);
                let mut digits = match conversion {
                    b'u' => value.to_string(),
                    b'x' => format!("{value:x}"),
                    b'X' => format!("{value:X}"),
                    _ => format!("{value:o}"),
                };
                if spec.alternate && value != 0 && conversion != b'u' {
                    let prefix = match conversion {
                        b'x' => "0x",
                        b'X' => "0X",
                        _ => "0",
                    };
                    digits.insert_str(0, prefix);
                }
                integer(output, &spec, false, digits, false);
            }
            b'p' => {
                let value = arguments.take(8)?;
                pad(output, &spec, &[], format!("0x{value:x}").as_bytes(), false);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let value = f64::from_bits(arguments.take(8)?);
                float(output, &spec, conversion, value);
            }
            _ => output.extend_from_slice(&format[percent..at]),
        }
    }
    if full {
        output.truncate(start);
    }
    Ok(arguments.taken)
}

/// Digits, or `*` for an argument.
fn number(
    format: &[u8],
    at: &mut usize,
    arguments: &mut Arguments<'_, '_>,
) -> Result<Option<i32>, FaultKind> {
    if format.get(*at) == Some(&b'*') {
        *at += 1;
        return Ok(Some(arguments.take(4)? as i32));
    }
    let mut value = None;
    while let Some(digit) = format.get(*at).filter(|b| b.is_ascii_digit()) {
        let digit = i32::from(digit - b'0');
        value = Some(value.unwrap_or(0_i32).saturating_mul(10).saturating_add(digit));
        *at += 1;
    }
    Ok(value)
}

/// Sign and text, filled up to the width.
fn pad(output: &mut Vec<u8>, spec: &Spec, sign: &[u8], text: &[u8], zeros: bool) {
    let fill = spec.width.saturating_sub(sign.len() + text.len());
    if !spec.minus && !zeros {
        output.resize(output.len() + fill, b' ');
    }
    output.extend_from_slice(sign);
    if !spec.minus && zeros {
        output.resize(output.len() + fill, b'0');
    }
    output.extend_from_slice(text);
    if spec.minus {
        output.resize(output.len() + fill, b' ');
    }
}

fn sign(spec: &Spec, negative: bool, signed: bool) -> &'static [u8] {
    match (negative, signed && spec.plus, signed && spec.space) {
        (true, _, _) => b"-",
        (_, true, _) => b"+",
        (_, _, true) => b" ",
        _ => b"",
    }
}

fn integer(output: &mut Vec<u8>, spec: &Spec, negative: bool, digits: String, signed: bool) {
    let mut digits = digits;
    if let Some(precision) = spec.precision {
        if precision == 0 && digits == "0" {
            digits.clear();
        }
        let missing = precision.saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
    }
    let zeros = spec.zero && spec.precision.is_none();
    pad(output, spec, sign(spec, negative, signed), digits.as_bytes(), zeros);
}

fn float(output: &mut Vec<u8>, spec: &Spec, conversion: u8, value: f64) {
    let upper = conversion.is_ascii_uppercase();
    let negative = value.is_sign_negative() && !value.is_nan();
    let magnitude = value.abs();
    let mut text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match conversion.to_ascii_lowercase() {
            b'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate),
            b'e' => exponential(magnitude, spec.precision.unwrap_or(6), spec.alternate),
            b'g' => general(magnitude, spec.precision.unwrap_or(6), spec.alternate),
            _ => hexadecimal(magnitude, spec.precision),
        }
    };
    if upper {
        text.make_ascii_uppercase();
    }
    let zeros = spec.zero && value.is_finite();
    pad(output, spec, sign(spec, negative, true), text.as_bytes(), zeros);
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if point && precision == 0 {
        text.push('.');
    }
    text
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if point && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let scientific = exponential(value, precision - 1, false);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if alternate || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, rest) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{rest}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&fixed(value, decimals, false))
}

/// As C writes it: a hexadecimal fraction and a power of two.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mut whole, exponent) = match (biased, fraction) {
        (0, 0) => (0_u64, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let mut digits = fraction;
    let mut count = 13;
    if let Some(precision) = precision.filter(|p| *p < 13) {
        let drop = 4 * (13 - precision) as u32;
        let all = whole << 52 | fraction;
        let (kept, below) = (all >> drop, all & ((1 << drop) - 1));
        let half = 1 << (drop - 1);
        let up = below > half || (below == half && kept & 1 != 0);
        let kept = kept + u64::from(up);
        whole = kept >> (52 - drop);
        digits = (kept & ((1 << (52 - drop)) - 1)) << drop;
        count = precision;
    }
    let mut text = format!("{digits:013x}");
    text.truncate(count);
    match precision {
        None => text = text.trim_end_matches('0').to_owned(),
        Some(precision) => text.push_str(&"0".repeat(precision.saturating_sub(13))),
    }
    let mut out = format!("0x{whole}");
    if !text.is_empty() {
        let _ = write!(out, ".{text}");
    }
    let _ = write!(out, "p{exponent:+}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::view::View;
    use crate::memory::Memory;
    use crate::sparse::Sparse;

    /// Prints with 4-byte and 8-byte arguments.
    fn run(format: &str, arguments: &[(u64, u64)]) -> String {
        let mut memory = Memory::new(1 << 20);
        let place = memory.allocate(4096, false).unwrap();
        let mut near = 0;
        let put = |memory: &mut Memory, at: u64, bytes: &[u8]| {
            memory.host_slice(at, bytes.len() as u64).unwrap().copy_from_slice(bytes);
        };
        put(&mut memory, place, format.as_bytes());
        put(&mut memory, place + 1024, b"text");
        let mut at = place + 2048;
        for &(bytes, value) in arguments {
            at = at.next_multiple_of(bytes);
            put(&mut memory, at, &value.to_le_bytes()[..bytes as usize]);
            at += bytes;
        }
        let mut spaces = Spaces {
            memory: View::Whole(&mut memory),
            shared: &mut [],
            local: &mut Sparse::default(),
            local_bytes: 0,
            params: &[],
            near: &mut near,
        };
        let mut out = Vec::new();
        let count = print(&mut spaces, 0, place, place + 2048, &mut out).unwrap();
        assert_eq!(count as usize, arguments.len());
        String::from_utf8(out).unwrap()
    }

    fn f(value: f64) -> (u64, u64) {
        (8, value.to_bits())
    }

    #[test]
    fn as_c_prints() {
        let text = crate::memory::FIRST_ADDRESS + 1024;
        for (format, arguments, expected) in [
            ("a%%b\n", vec![], "a%b\n"),
            ("%d|%5d|%-5d|%05d", vec![(4, 7), (4, 7), (4, 7), (4, 7)], "7|    7|7    |00007"),
            ("%d %i %+d", vec![(4, 0xffff_ffff), (4, 3), (4, 3)], "-1 3 +3"),
            (
                "%u %x %#X %o",
                vec![(4, 0xffff_ffff), (4, 255), (4, 255), (4, 8)],
                "4294967295 ff 0XFF 10",
            ),
            ("%d %lld", vec![(4, 1), (8, u64::MAX)], "1 -1"),
            ("%lu %zu", vec![(8, u64::MAX), (8, 5)], "18446744073709551615 5"),
            ("%hhd %hu", vec![(4, 0x1ff), (4, 0x1_0002)], "-1 2"),
            (
                "%c%c [%6s] [%.2s]",
                vec![(4, 72), (4, 105), (8, text), (8, text)],
                "Hi [  text] [te]",
            ),
            ("%f %.2f %8.3f", vec![f(1.5), f(-2.345), f(3.0)], "1.500000 -2.35    3.000"),
            (
                "%e %g %g %g",
                vec![f(12345.678), f(0.0001), f(1e10), f(100000.0)],
                "1.234568e+04 0.0001 1e+10 100000",
            ),
            ("%g %G %08.1f", vec![f(0.5), f(f64::INFINITY), f(-1.25)], "0.5 INF -00001.2"),
            ("%a %.1a %a", vec![f(1.0), f(1.97), f(0.1)], "0x1p+0 0x2.0p+0 0x1.999999999999ap-4"),
            (
                "%*d|%-*d|%.*f",
                vec![(4, 4), (4, 1), (4, 3), (4, 2), (4, 1), f(0.25)],
                "   1|2  |0.2",
            ),
            ("%p", vec![(8, 0xabc)], "0xabc"),
            ("%.3d %.0d|", vec![(4, 5), (4, 0)], "005 |"),
            ("100%", vec![], "100%"),
            ("%y", vec![], "%y"),
        ] {
            assert_eq!(run(format, &arguments), expected, "{format}");
        }
    }
}
