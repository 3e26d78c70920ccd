//! What is wrong with an assembly file, and where.

/// What is wrong with an assembly file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct AsmError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// The bytes of the file that are at fault.
    pub span: std::ops::Range<usize>,
    /// What to do.
    pub help: Option<String>,
}

impl AsmError {
    /// An error of the file as a whole.
    pub fn of_file(message: impl Into<String>) -> AsmError {
        AsmError { message: message.into(), line: 1, column: 1, span: 0..0, help: None }
    }
}

/// An error at `span` of `text`.
pub fn locate(
    text: &str,
    span: std::ops::Range<usize>,
    message: String,
    help: Option<String>,
) -> AsmError {
    let before = &text[..span.start.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    AsmError {
        message,
        line: before.matches('\n').count() as u32 + 1,
        column: before[line_start..].chars().count() as u32 + 1,
        span,
        help,
    }
}
