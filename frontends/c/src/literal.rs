//! Integer, character and text literals (C11, 6.4.4 and 6.4.5; `0b` as gcc has it).

/// An integer literal: its value, and what its suffix says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) bits: u64,
    /// Whether it ends in `u`.
    pub(crate) unsigned: bool,
    /// How many `l` it ends in.
    pub(crate) longs: u8,
    /// Whether it is decimal: such a literal is only unsigned where it says so.
    pub(crate) decimal: bool,
}

/// What is wrong with a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is a floating-point number.
    Float,
    /// It is no literal of C.
    Malformed,
    /// It does not fit 64 bits.
    TooLarge,
    /// An escape that is none.
    Escape,
    /// A character constant of no or several characters.
    Length,
    /// Characters of more than a byte, which arrays of `char` do not hold.
    Wide,
}

/// Reads an integer literal.
pub(crate) fn integer(text: &str) -> Result<Integer, Fault> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', ..] => (&lower[..], 8),
        _ => (&lower[..], 10),
    };
    let end = digits.find(|c: char| !c.is_digit(if base == 8 { 10 } else { base }));
    let (digits, suffix) = digits.split_at(end.unwrap_or(digits.len()));
    if suffix.contains('.') || matches!(suffix.chars().next(), Some('e' | 'p' | 'f')) && base != 2 {
        return Err(Fault::Float);
    }
    let (unsigned, longs) = match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ul" | "lu" => (true, 1),
        "ll" => (false, 2),
        "ull" | "llu" => (true, 2),
        _ => return Err(Fault::Malformed),
    };
    let mixed = text.contains("lL") || text.contains("Ll");
    if digits.is_empty() || mixed {
        return Err(Fault::Malformed);
    }
    let mut bits = 0_u64;
    for digit in digits.chars() {
        let digit = digit.to_digit(base).ok_or(Fault::Malformed)?;
        let next = bits.checked_mul(u64::from(base)).and_then(|n| n.checked_add(digit.into()));
        bits = next.ok_or(Fault::TooLarge)?;
    }
    Ok(Integer { bits, unsigned, longs, decimal: base == 10 })
}

/// The bytes that the inside of a literal stands for.
fn unescape(text: &str) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, after @ ..] = rest else { return Err(Fault::Escape) };
        rest = after;
        let byte = match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' => 27,
            b'\\' | b'\'' | b'"' | b'?' => *escape,
            b'x' => {
                let count = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                let value = rest[..count].iter().try_fold(0_u32, |value, &byte| {
                    let digit = char::from(byte).to_digit(16)?;
                    Some(value << 4 | digit).filter(|&value| value < 256)
                });
                rest = &rest[count..];
                value.filter(|_| count > 0).ok_or(Fault::Escape)? as u8
            }
            b'0'..=b'7' => {
                let more = rest.iter().take(2).take_while(|byte| (b'0'..=b'7').contains(byte));
                let count = more.count();
                let digits = std::iter::once(escape).chain(&rest[..count]);
                let value = digits.fold(0_u32, |value, &byte| value << 3 | u32::from(byte - b'0'));
                rest = &rest[count..];
                u8::try_from(value).map_err(|_| Fault::Escape)?
            }
            _ => return Err(Fault::Escape),
        };
        bytes.push(byte);
    }
    Ok(bytes)
}

/// The value of a character constant, an `int`; several characters as gcc reads them. `L'a'` is a
/// `wchar_t`, which is an `int`, too.
pub(crate) fn character(text: &str) -> Result<i32, Fault> {
    if let Some(text) = text.strip_prefix('L') {
        let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        let bytes = unescape(inside.ok_or(Fault::Malformed)?)?;
        let mut all = std::str::from_utf8(&bytes).unwrap_or_default().chars();
        return match (&bytes[..], all.next(), all.next()) {
            (&[byte], ..) => Ok(i32::from(byte)),
            (_, Some(only), None) => Ok(u32::from(only) as i32),
            _ => Err(Fault::Length),
        };
    }
    if text.starts_with(['u', 'U']) {
        return Err(Fault::Wide);
    }
    let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let bytes = unescape(inside.ok_or(Fault::Malformed)?)?;
    match bytes[..] {
        [byte] => Ok(i32::from(byte as i8)),
        [_, _] | [_, _, _] | [_, _, _, _] => {
            Ok(bytes.iter().fold(0, |value, &byte| value << 8 | i32::from(byte)))
        }
        _ => Err(Fault::Length),
    }
}

/// The bytes of a text, without the zero that ends it.
pub(crate) fn text(text: &str) -> Result<Vec<u8>, Fault> {
    let text = text.strip_prefix("u8").unwrap_or(text);
    if text.starts_with(['L', 'u', 'U']) {
        return Err(Fault::Wide);
    }
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    unescape(inside.ok_or(Fault::Malformed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_c() {
        let bits = |text| integer(text).map(|value| value.bits);
        assert_eq!(bits("0"), Ok(0));
        assert_eq!(bits("017"), Ok(15));
        assert_eq!(bits("0xFFffFFffFFffFFffULL"), Ok(u64::MAX));
        assert_eq!(bits("0b101"), Ok(5));
        assert_eq!(bits("18446744073709551616"), Err(Fault::TooLarge));
        assert_eq!(bits("08"), Err(Fault::Malformed));
        assert_eq!(bits("1.5"), Err(Fault::Float));
        assert_eq!(bits("1e5"), Err(Fault::Float));
        assert_eq!(bits("0x1e5"), Ok(0x1e5));
        assert_eq!(bits("5lL"), Err(Fault::Malformed));
        assert!(integer("5uL").is_ok_and(|value| value.unsigned && value.longs == 1));
    }

    #[test]
    fn characters_are_signed() {
        assert_eq!(character("'a'"), Ok(97));
        assert_eq!(character(r"'\xff'"), Ok(-1));
        assert_eq!(character(r"'\0'"), Ok(0));
        assert_eq!(character(r"'\\'"), Ok(92));
        assert_eq!(character("'ab'"), Ok(0x6162));
        assert_eq!(character("L'a'"), Ok(97));
        assert_eq!(character(r"L'\xff'"), Ok(255));
        assert_eq!(character("L'\u{e9}'"), Ok(0xe9));
        assert_eq!(character("L'ab'"), Err(Fault::Length));
        assert_eq!(character("u'a'"), Err(Fault::Wide));
        assert_eq!(text("u8\"a\""), Ok(b"a".to_vec()));
        assert_eq!(text("L\"a\""), Err(Fault::Wide));
        assert_eq!(character("''"), Err(Fault::Length));
        assert_eq!(text(r#""a\n\101""#), Ok(b"a\nA".to_vec()));
    }
}
