//! Names and texts as dumps write them, and counts as messages do.

use std::fmt::{Display, Write};

/// A text in quotes on one line, with what cannot stand there escaped.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a name stands behind a sigil without quotes: letters, digits, `_` and `.`, which are what
/// readers of LLVM's dumps take without (Compiler Explorer's is one; LLVM itself also takes `$`).
pub fn is_plain_symbol(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    !name.is_empty() && name.bytes().all(plain)
}

/// A name behind a sigil, in quotes where it needs them.
pub fn symbol(name: &str) -> String {
    if is_plain_symbol(name) { name.to_string() } else { quoted(name) }
}

/// A number with its noun, which takes an `s` in the plural: `1 loop`, `2 loops`.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "loop")), ["0 loops", "1 loop", "2 loops"]);
    }

    #[test]
    fn names_have_quotes_where_they_need_them() {
        assert_eq!(symbol("k1.blur_x"), "k1.blur_x");
        assert_eq!(symbol("gPyramid[0]"), "\"gPyramid[0]\"");
        assert_eq!(symbol("_Z1k$x"), "\"_Z1k$x\"");
        assert_eq!(symbol(""), "\"\"");
        assert_eq!(quoted("a\"\n\u{1}"), "\"a\\\"\\n\\u{1}\"");
    }
}
