//! Spans, source files and diagnostics as data.
//!
//! Everything that can go wrong with a user's input is a [`Diagnostic`]: a code, a span, a label
//! that says what is wrong and a help that says what to do. This crate only holds that data; the
//! driver renders it, and nothing here reads or writes a file.

mod code;
mod diagnostic;
pub mod extent;
pub mod lexical;
pub mod member;
mod nearest;
mod room;
mod source;
pub mod text;

pub use code::CodeInfo;
pub use diagnostic::{Diagnostic, Diagnostics, Failed, Label, Severity};
pub use nearest::nearest;
pub use room::has_room;
pub use source::{LineColumn, SourceFile, SourceId, SourceMap, Span};
