//! Tokens of the text form. A comment runs from `;` to the end of the line.

use std::borrow::Cow;

use crate::print::is_name_byte;

/// A token's kind and text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// Letters, digits, `_`, `.` and `$`, starting with a letter or `_`.
    Word(&'a str),
    /// A number as written, with its sign.
    Number(&'a str),
    /// `@name`, with or without quotes.
    At(Cow<'a, str>),
    /// `%name`, with or without quotes.
    Percent(Cow<'a, str>),
    /// A text in quotes.
    Text(Cow<'a, str>),
    /// One of the punctuation marks.
    Mark(&'static str),
    /// Something else.
    Wrong,
    /// The end of the text.
    End,
}

/// A token in place.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<'a> {
    /// The token.
    pub token: Token<'a>,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Whether it is the first token of its line.
    pub first: bool,
}

const MARKS: &[&str] = &["->", "..", "(", ")", "[", "]", "{", "}", ",", ":", "=", "+", "-", "!"];

/// All tokens of a text; the last is [`Token::End`].
pub(crate) fn lex(text: &str) -> Vec<Spanned<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut first) = (0, true);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'\n' => {
                first = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b';' => {
                at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            _ => {}
        }
        let (token, length) = token(&text[at..]);
        at += length;
        tokens.push(Spanned { token, start, end: at, first });
        first = false;
    }
    tokens.push(Spanned { token: Token::End, start: at, end: at, first: true });
    tokens
}

/// The token a text starts with, and its length in bytes.
fn token(text: &str) -> (Token<'_>, usize) {
    let bytes = text.as_bytes();
    let run = |from: usize| {
        from + bytes[from..].iter().position(|&b| !is_name_byte(b)).unwrap_or(bytes.len() - from)
    };
    match bytes[0] {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
            let end = run(0);
            (Token::Word(&text[..end]), end)
        }
        sigil @ (b'@' | b'%') => {
            let (name, end) = if bytes.get(1) == Some(&b'"') {
                match string(&text[1..]) {
                    Some((name, length)) => (name, 1 + length),
                    None => return (Token::Wrong, line_length(bytes)),
                }
            } else {
                let end = run(1);
                if end == 1 {
                    return (Token::Wrong, 1);
                }
                (Cow::Borrowed(&text[1..end]), end)
            };
            (if sigil == b'@' { Token::At(name) } else { Token::Percent(name) }, end)
        }
        b'"' => match string(text) {
            Some((text, length)) => (Token::Text(text), length),
            None => (Token::Wrong, line_length(bytes)),
        },
        b'0'..=b'9' => number(text, 0),
        b'-' if bytes.get(1).is_some_and(u8::is_ascii_digit) => number(text, 1),
        b'-' if text[1..].starts_with("inf") => (Token::Number(&text[..4]), 4),
        _ => match MARKS.iter().find(|mark| text.starts_with(**mark)) {
            Some(mark) => (Token::Mark(mark), mark.len()),
            None => (Token::Wrong, text.chars().next().map_or(1, char::len_utf8)),
        },
    }
}

fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len())
}

/// A number whose digits start at `from`: `12`, `0x1f`, `1.5`, `1e-30`. `1..2` is the number 1.
fn number(text: &str, from: usize) -> (Token<'_>, usize) {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = from;
    while bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
        // The sign of an exponent.
        let exponent = matches!(bytes[end], b'e' | b'E') && !text[from..].starts_with("0x");
        let sign = matches!(bytes.get(end + 1), Some(b'-' | b'+'));
        end += if exponent && sign && digit(end + 2) { 2 } else { 1 };
        if bytes.get(end) == Some(&b'.') && digit(end + 1) {
            end += 1;
        }
    }
    (Token::Number(&text[..end]), end)
}

/// The text in quotes at the start of `text`, with its length; `None` where it does not end on
/// its line or has an unknown escape.
fn string(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let bytes = text.as_bytes();
    let plain = bytes[1..].iter().position(|&b| matches!(b, b'"' | b'\\' | b'\n'))? + 1;
    if bytes[plain] == b'"' {
        return Some((Cow::Borrowed(&text[1..plain]), plain + 1));
    }
    let mut out = String::new();
    let mut chars = text[1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((Cow::Owned(out), at + 2)),
            '\n' => return None,
            '\\' => match chars.next()?.1 {
                '"' => out.push('"'),
                '\\' => out.push('\\'),
                'n' => out.push('\n'),
                'u' => {
                    if chars.next()?.1 != '{' {
                        return None;
                    }
                    let mut code = 0u32;
                    loop {
                        match chars.next()?.1 {
                            '}' => break,
                            c => code = code.checked_mul(16)?.checked_add(c.to_digit(16)?)?,
                        }
                    }
                    out.push(char::from_u32(code)?);
                }
                _ => return None,
            },
            c => out.push(c),
        }
    }
    None
}
