//! What the lexers of all languages say alike: characters that start no token, comments and texts
//! that do not end, and long texts cut short in messages.

use crate::{CodeInfo, Diagnostic, SourceId, Span};

/// The error for the character at byte `at`, which starts no token.
pub fn unexpected_character(
    code: &'static CodeInfo,
    source: SourceId,
    text: &str,
    at: usize,
) -> Diagnostic {
    let c = text[at..].chars().next().unwrap_or('\0');
    let span = Span::new(source, at, at + c.len_utf8());
    match c {
        '\0' => Diagnostic::error(code, "a NUL byte in the source")
            .at(span, "not text")
            .help("this seems to be a binary file"),
        c if c.is_control() => {
            let message = format!("the control character U+{:04X} in the source", c as u32);
            Diagnostic::error(code, message).at(span, "no text").help("remove it")
        }
        c => Diagnostic::error(code, format!("unexpected character `{c}`"))
            .at(span, "starts no token")
            .help("remove it, or put it into a comment"),
    }
}

/// The error for a comment that starts with `/*` at byte `at` and does not end.
pub fn open_comment(code: &'static CodeInfo, source: SourceId, at: usize) -> Diagnostic {
    Diagnostic::error(code, "a comment that does not end")
        .at(Span::new(source, at, at + 2), "starts here")
        .help("close it with `*/`")
}

/// The error for a text in double quotes that does not end on its line.
pub fn open_text(code: &'static CodeInfo, span: Span) -> Diagnostic {
    Diagnostic::error(code, "a text that does not end")
        .at(span, "starts here")
        .help("close it with `\"` on the same line")
}

/// The beginning of a text that may be very long.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
