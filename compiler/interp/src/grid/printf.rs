//! The text of a device `vprintf`: C11, section 7.21.6.1, with arguments one behind the other in
//! memory, each aligned to its size (4 bytes, or 8 for `l`, floats, texts and pointers).

use std::iter::{Copied, Peekable};
use std::slice::Iter;

use super::fault::FaultKind;
use super::memory::{View, word};
use nbcc_ir::Space;

/// The text, and how many arguments it took.
pub(super) fn format(
    view: &View<'_>,
    text: &[u8],
    arguments: u64,
) -> Result<(Vec<u8>, u32), FaultKind> {
    let mut out = Vec::new();
    let mut count = 0;
    let mut at = arguments;
    let mut next = |bytes: u64| {
        at = at.next_multiple_of(bytes);
        let bits = view.read(Space::Generic, at, bytes).map(word)?;
        at += bytes;
        count += 1;
        Ok::<u64, FaultKind>(bits)
    };
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        if byte != b'%' {
            out.push(byte);
            rest = behind;
            continue;
        }
        let written = rest;
        let mut chars = behind.iter().copied().peekable();
        let mut spec = Spec::default();
        while let Some(&flag) = chars.peek() {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            chars.next();
        }
        let mut number = |chars: &mut Peekable<Copied<Iter<'_, u8>>>| {
            if chars.next_if_eq(&b'*').is_some() {
                return next(4).map(|bits| i64::from(bits as i32));
            }
            let mut n = 0i64;
            while let Some(digit) = chars.next_if(u8::is_ascii_digit) {
                n = (n * 10 + i64::from(digit - b'0')).min(4096);
            }
            Ok(n)
        };
        let width = number(&mut chars)?;
        spec.left |= width < 0;
        spec.width = width.unsigned_abs().min(4096) as usize;
        if chars.next_if_eq(&b'.').is_some() {
            spec.precision = usize::try_from(number(&mut chars)?).ok().map(|p| p.min(4096));
        }
        let (mut long, mut bits) = (false, 32);
        while let Some(length) =
            chars.next_if(|c| matches!(c, b'h' | b'l' | b'j' | b'z' | b't' | b'q' | b'L'))
        {
            match length {
                b'h' => bits = if bits == 16 { 8 } else { 16 },
                _ => long = true,
            }
        }
        // An integer as its conversion takes it: the low bits of its argument.
        let (size, unused) = if long { (8, 0) } else { (4, 64 - bits) };
        let Some(conversion) = chars.next() else {
            out.extend_from_slice(written);
            break;
        };
        rest = &written[written.len() - chars.len()..];
        match conversion {
            b'%' => out.push(b'%'),
            b'd' | b'i' => {
                let value = (next(size)? << unused) as i64 >> unused;
                spec.integer(&mut out, value < 0, value.unsigned_abs().to_string(), "");
            }
            b'u' => {
                let value = next(size)? << unused >> unused;
                spec.unsigned(&mut out, value.to_string(), "");
            }
            b'x' | b'X' | b'o' => {
                let value = next(size)? << unused >> unused;
                let (digits, prefix) = match conversion {
                    b'x' => (format!("{value:x}"), "0x"),
                    b'X' => (format!("{value:X}"), "0X"),
                    _ => (format!("{value:o}"), "0"),
                };
                let prefix = if spec.alternate && value != 0 { prefix } else { "" };
                spec.unsigned(&mut out, digits, prefix);
            }
            b'c' => spec.pad(&mut out, &[next(4)? as u8]),
            b's' => {
                let mut text = view.bytes_of_text(next(8)?)?;
                text.truncate(spec.precision.unwrap_or(usize::MAX));
                spec.pad(&mut out, &text);
            }
            b'p' => spec.pad(&mut out, format!("{:#x}", next(8)?).as_bytes()),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let value = f64::from_bits(next(8)?);
                spec.float(&mut out, char::from(conversion), value);
            }
            _ => out.extend_from_slice(&written[..written.len() - rest.len()]),
        }
    }
    Ok((out, count))
}

#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn pad(&self, out: &mut Vec<u8>, text: &[u8]) {
        let blanks = vec![b' '; self.width.saturating_sub(text.len())];
        let parts = if self.left { [text, &blanks] } else { [&blanks, text] };
        out.extend_from_slice(&parts.concat());
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn unsigned(&self, out: &mut Vec<u8>, digits: String, prefix: &str) {
        Spec { plus: false, space: false, ..*self }.integer(out, false, digits, prefix);
    }

    fn integer(&self, out: &mut Vec<u8>, negative: bool, digits: String, prefix: &str) {
        let digits = match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits,
        };
        let zero = self.zero && self.precision.is_none();
        self.number(out, format!("{}{prefix}", self.sign(negative)), digits, zero);
    }

    fn number(&self, out: &mut Vec<u8>, head: String, digits: String, zero: bool) {
        if zero && !self.left {
            let missing = self.width.saturating_sub(head.len() + digits.len());
            out.extend_from_slice((head + &"0".repeat(missing) + &digits).as_bytes());
        } else {
            self.pad(out, (head + &digits).as_bytes());
        }
    }

    fn float(&self, out: &mut Vec<u8>, conversion: char, value: f64) {
        let upper = conversion.is_ascii_uppercase();
        let magnitude = value.abs();
        let (digits, zero) = if value.is_nan() {
            ("nan".to_string(), false)
        } else if value.is_infinite() {
            ("inf".to_string(), false)
        } else {
            let precision = self.precision.unwrap_or(6);
            let digits = match conversion.to_ascii_lowercase() {
                'f' => format!("{magnitude:.precision$}"),
                'e' => exponential(magnitude, precision),
                'a' => hexadecimal(magnitude, self.precision),
                _ => self.general(magnitude, precision),
            };
            (digits, self.zero)
        };
        let negative = value.is_sign_negative() && !value.is_nan();
        let digits = if upper { digits.to_uppercase() } else { digits };
        self.number(out, self.sign(negative).to_string(), digits, zero);
    }

    fn general(&self, magnitude: f64, precision: usize) -> String {
        let precision = precision.max(1);
        let scientific = exponential(magnitude, precision - 1);
        let exponent: i64 =
            scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
        let trim = |digits: &str| {
            if self.alternate || !digits.contains('.') {
                return digits.to_string();
            }
            digits.trim_end_matches('0').trim_end_matches('.').to_string()
        };
        if exponent < -4 || exponent >= precision as i64 {
            let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
            format!("{}e{exponent}", trim(mantissa))
        } else {
            let decimals = (precision as i64 - 1 - exponent) as usize;
            trim(&format!("{magnitude:.decimals$}"))
        }
    }
}

/// `1.50e+01`.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// `0x1.8p+3`.
fn hexadecimal(magnitude: f64, precision: Option<usize>) -> String {
    let bits = magnitude.to_bits();
    let (field, mut fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let mut exponent = if field == 0 { -1022 } else { field as i64 - 1023 };
    if bits == 0 {
        exponent = 0;
    }
    let mut lead = u64::from(field != 0);
    let digits = precision.unwrap_or(13).min(13);
    if digits < 13 {
        let cut = 52 - 4 * digits as u32;
        let whole = lead << 52 | fraction;
        let (kept, rest, half) = (whole >> cut, whole & ((1 << cut) - 1), 1u64 << (cut - 1));
        let up = rest > half || (rest == half && kept & 1 == 1);
        let rounded = (kept + u64::from(up)) << cut;
        (lead, fraction) = (rounded >> 52, rounded & ((1 << 52) - 1));
    }
    let mut text = format!("{fraction:013x}");
    text.truncate(digits);
    if precision.is_none() {
        text = text.trim_end_matches('0').to_string();
    }
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{text}p{exponent:+}")
}
