//! What becomes of a file by accident or malice: bytes, lines, tokens and numbers changed, parts of
//! other files in it, brackets without end, its end missing.

use std::ops::Range;

use crate::fuzz::random::Random;

/// Numbers at the edges of types and beyond.
const NUMBERS: [&str; 24] = [
    "0",
    "-1",
    "1",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "1048576",
    "1000000000",
    "1073741824",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e300",
    "1e-320",
    "0x7fffffff",
    "99999999999999999999999999999999999999999999",
];

/// Fields of binary files at the edges of what they hold.
const WORDS: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0x100,
    0xffff,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 63,
    u64::MAX,
];

/// What opens more than it closes.
const OPENERS: [&str; 16] = [
    "(", "[", "{", "-", "!", "~", "/*", "\"", "'", "f(", "1+(", "a[", "{{", "[[a]]\n", "1 ? 1 : ",
    "for(",
];

/// Bytes that are seldom in a text, in it.
const ODD: [&[u8]; 9] = [
    b"\0",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    "\u{e9}\u{1f600}".as_bytes(),
    b"\r",
    b"\x1b[31m",
    "\u{202e}\u{2028}".as_bytes(),
];

/// Some changes to a text, of which there are others of its kind.
pub fn text(random: &mut Random, original: &[u8], others: &[&[u8]]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..changes(random) {
        match random.below(40) {
            0 => one_byte(random, &mut bytes),
            1 => odd(random, &mut bytes),
            2 => cut(random, &mut bytes),
            3 => nest(random, &mut bytes),
            4 => repeat(random, &mut bytes),
            5 => block(random, &mut bytes),
            6..=9 => line(random, &mut bytes, others),
            10..=24 => token(random, &mut bytes, others),
            _ => number(random, &mut bytes),
        }
    }
    bytes
}

/// Other numbers in a text, of which the rest stays.
pub fn numbers(random: &mut Random, original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..changes(random) {
        number(random, &mut bytes);
    }
    bytes
}

/// Some changes to what is no text.
pub fn binary(random: &mut Random, original: &[u8], others: &[&[u8]]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..changes(random) {
        match random.below(12) {
            0..=2 => one_byte(random, &mut bytes),
            3 => cut(random, &mut bytes),
            4 => block(random, &mut bytes),
            5 if !others.is_empty() => splice(random, &mut bytes, others),
            _ => word(random, &mut bytes),
        }
    }
    bytes
}

/// Mostly one change: what follows it is still what it was.
fn changes(random: &mut Random) -> usize {
    if random.percent(60) { 1 } else { 2 + random.below(4) }
}

fn range(random: &mut Random, length: usize, longest: usize) -> Range<usize> {
    let start = random.below(length + 1);
    start..(start + random.below(longest + 1)).min(length)
}

fn one_byte(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    let byte = random.below(256) as u8;
    match bytes.get_mut(at) {
        Some(place) if random.percent(50) => *place ^= 1 << random.below(8),
        Some(place) if random.percent(70) => *place = byte,
        _ => bytes.insert(at, byte),
    }
}

fn odd(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    bytes.splice(at..at, random.pick(&ODD).iter().copied());
}

fn cut(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    if random.percent(80) {
        bytes.truncate(at);
    } else {
        bytes.drain(..at);
    }
}

/// Removes, doubles or moves a part.
fn block(random: &mut Random, bytes: &mut Vec<u8>) {
    let part = range(random, bytes.len(), 64);
    let copy = bytes[part.clone()].to_vec();
    match random.below(3) {
        0 => drop(bytes.drain(part)),
        1 => drop(bytes.splice(part.start..part.start, copy)),
        _ => {
            bytes.drain(part);
            let at = random.below(bytes.len() + 1);
            bytes.splice(at..at, copy);
        }
    }
}

fn splice(random: &mut Random, bytes: &mut Vec<u8>, others: &[&[u8]]) {
    let other = random.pick(others);
    let (from, to) = (range(random, other.len(), 256), range(random, bytes.len(), 256));
    bytes.splice(to, other[from].iter().copied());
}

/// A field of 1 to 8 bytes, little-endian, where fields lie.
fn word(random: &mut Random, bytes: &mut [u8]) {
    let size = random.pick(&[1, 2, 4, 4, 8, 8]);
    let places = bytes.len() / size;
    if places == 0 {
        return;
    }
    let at = random.below(places) * size;
    let mut old = [0; 8];
    old[..size].copy_from_slice(&bytes[at..at + size]);
    let old = u64::from_le_bytes(old);
    let new = match random.below(4) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        _ => random.pick(&WORDS),
    };
    bytes[at..at + size].copy_from_slice(&new.to_le_bytes()[..size]);
}

/// An opening bracket or operator, again and again.
fn nest(random: &mut Random, bytes: &mut Vec<u8>) {
    let places = tokens(bytes);
    let at = if places.is_empty() { 0 } else { places[random.below(places.len())].start };
    let times = random.pick(&[1, 2, 20, 300, 300, 5000, 100_000]);
    let opener = random.pick(&OPENERS).as_bytes().repeat(times);
    bytes.splice(at..at, opener);
}

/// A token or a line, again and again.
fn repeat(random: &mut Random, bytes: &mut Vec<u8>) {
    let places = if random.percent(50) { tokens(bytes) } else { lines(bytes) };
    if places.is_empty() {
        return;
    }
    let part = places[random.below(places.len())].clone();
    let times = random.pick(&[2, 3, 10, 100, 1000, 20_000]).min((1 << 20) / part.len().max(1));
    let copies = bytes[part.clone()].repeat(times);
    bytes.splice(part, copies);
}

fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut end = 0;
    let parts = bytes.split_inclusive(|&byte| byte == b'\n');
    let part = |line: &[u8]| {
        end += line.len();
        end - line.len()..end
    };
    parts.map(part).collect()
}

/// Numbers, names and single characters, with what stands before them.
fn tokens(bytes: &[u8]) -> Vec<Range<usize>> {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        if bytes[start].is_ascii_whitespace() {
            continue;
        }
        while in_name(bytes[start]) && at < bytes.len() && in_name(bytes[at]) {
            at += 1;
        }
        found.push(start..at);
    }
    found
}

fn line(random: &mut Random, bytes: &mut Vec<u8>, others: &[&[u8]]) {
    change_parts(random, bytes, others, lines);
}

fn token(random: &mut Random, bytes: &mut Vec<u8>, others: &[&[u8]]) {
    if random.percent(50) {
        alike(random, bytes);
    } else {
        change_parts(random, bytes, others, tokens);
    }
}

/// A token in the place of one of its kind: what comes of it often still has a meaning.
fn alike(random: &mut Random, bytes: &mut Vec<u8>) {
    let places = tokens(bytes);
    if places.is_empty() {
        return;
    }
    let part = places[random.below(places.len())].clone();
    let kind = |token: &Range<usize>| match bytes[token.start] {
        b'0'..=b'9' => 0,
        b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'&' | b'|' | b'^' => 1,
        // Operands and modifiers of PTX.
        start @ (b'%' | b'.') => start,
        start if start.is_ascii_alphabetic() => 2,
        _ => 3,
    };
    let same: Vec<&Range<usize>> =
        places.iter().filter(|other| kind(other) == kind(&part)).collect();
    let new = bytes[same[random.below(same.len())].clone()].to_vec();
    bytes.splice(part, new);
}

/// Removes, doubles, swaps or replaces what `parts` finds.
fn change_parts(
    random: &mut Random,
    bytes: &mut Vec<u8>,
    others: &[&[u8]],
    parts: fn(&[u8]) -> Vec<Range<usize>>,
) {
    let places = parts(bytes);
    if places.is_empty() {
        return;
    }
    let part = places[random.below(places.len())].clone();
    let other = places[random.below(places.len())].clone();
    match random.below(6) {
        0 => drop(bytes.drain(part)),
        1 => {
            let copy = bytes[part.clone()].to_vec();
            bytes.splice(part.start..part.start, copy);
        }
        2 => {
            // The later one first: the place of the other stays.
            let (first, second) =
                if part.start <= other.start { (part, other) } else { (other, part) };
            let (a, b) = (bytes[first.clone()].to_vec(), bytes[second.clone()].to_vec());
            bytes.splice(second, a);
            bytes.splice(first, b);
        }
        3 => {
            let copy = bytes[other].to_vec();
            bytes.splice(part, copy);
        }
        _ => {
            let Some(source) = (!others.is_empty()).then(|| random.pick(others)) else { return };
            let places = parts(source);
            if places.is_empty() {
                return;
            }
            let new = &source[places[random.below(places.len())].clone()];
            let into = if random.percent(50) { part.start..part.start } else { part };
            bytes.splice(into, new.iter().copied());
        }
    }
}

/// A number in the place of another.
fn number(random: &mut Random, bytes: &mut Vec<u8>) {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> =
        (0..bytes.len()).filter(|&at| digit(at) && (at == 0 || !digit(at - 1))).collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[random.below(starts.len())];
    let end = (start..).find(|&at| !digit(at)).unwrap_or(bytes.len());
    bytes.splice(start..end, random.pick(&NUMBERS).bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_whatever_the_text_is() {
        for original in [&b""[..], b"\n", b"a", b"12", b"Func f(x) = 12 * x;\nf(3);\n", b"\xff\0"] {
            let mut changed = 0;
            for seed in 0..2000 {
                let mut random = Random::new(seed);
                changed += u32::from(text(&mut random, original, &[b"b(7)\n"]) != original);
                binary(&mut random, original, &[original]);
            }
            assert!(changed > 200, "{original:?}: {changed}");
        }
    }

    #[test]
    fn parts_cover_what_is_no_blank() {
        let words = |bytes: &[u8], parts: fn(&[u8]) -> Vec<Range<usize>>| {
            let part = |range: Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
            parts(bytes).into_iter().map(part).collect::<Vec<_>>()
        };
        assert_eq!(words(b"ld.f32 %r1, 2;\n", tokens), ["ld.f32", "%r1", ",", "2", ";"]);
        assert_eq!(words(b"a\n\nb", lines), ["a\n", "\n", "b"]);
    }
}
