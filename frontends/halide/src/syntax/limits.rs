//! How much a source file may hold.

use nbcc_base::{Diagnostic, Span};

use crate::codes;

/// Brackets and statements may nest this deep; C++ compilers set a like limit.
pub(crate) const MAX_NESTING: u32 = 256;

/// After this many syntax errors the rest of the file is not looked at.
pub(super) const MAX_SYNTAX_ERRORS: usize = 20;

/// The error for something that nests too deep.
pub(crate) fn too_deep(span: Span, limit: u32) -> Diagnostic {
    Diagnostic::error(&codes::NESTING, format!("nested more than {limit} deep"))
        .at(span, "too deep here")
        .help("name a part of it as an Expr or put it into a function")
}
