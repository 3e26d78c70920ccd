//! What is wrong with a program's file, read or written.

use crate::instruction::EncodeError;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("in `{section}` at offset {offset:#x}: {message}")]
pub struct LoadError {
    /// The section; `ELF header` or `section table` outside of any.
    pub section: String,
    /// The offset in the section.
    pub offset: u64,
    /// What is wrong.
    pub message: String,
}

impl LoadError {
    /// An error at `offset` of `section`.
    pub fn new(section: impl Into<String>, offset: u64, message: impl Into<String>) -> Self {
        LoadError { section: section.into(), offset, message: message.into() }
    }
}

/// Why a container cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the program: {0}")]
pub struct WriteError(pub String);

impl From<EncodeError> for WriteError {
    fn from(error: EncodeError) -> Self {
        WriteError(error.to_string())
    }
}

/// A program that could not be read back must not be written.
impl From<LoadError> for WriteError {
    fn from(error: LoadError) -> Self {
        WriteError(error.to_string())
    }
}
