//! Diagnostic codes of the text form of the IR.

use nbcc_base::CodeInfo;

/// Text that is not what may stand there.
pub const SYNTAX: CodeInfo = CodeInfo {
    code: "E0501",
    title: "IR text that cannot be read",
    explanation: "The text form of the IR has one instruction a line, as docs/ir.md describes. \
Something else stands here: a missing comma, a token of another kind, a text that never ends.",
    example: "",
    by_test: Some("every_code_of_the_text_form_is_reported"),
};

/// A word that names no operation, type or space.
pub const UNKNOWN_WORD: CodeInfo = CodeInfo {
    code: "E0502",
    title: "unknown word in IR text",
    explanation: "Operations, conditions, types, spaces and execution models are a fixed set of \
words, listed in docs/ir.md. This word is none of those that may stand here.",
    example: "",
    by_test: Some("every_code_of_the_text_form_is_reported"),
};

/// A use of what is defined nowhere.
pub const UNDEFINED: CodeInfo = CodeInfo {
    code: "E0503",
    title: "undefined name in IR text",
    explanation: "A value, block, memory object or function is used, but the function (or, for a \
callee, the file) does not define it.",
    example: "",
    by_test: Some("every_code_of_the_text_form_is_reported"),
};

/// A second definition.
pub const REDEFINED: CodeInfo = CodeInfo {
    code: "E0504",
    title: "name defined twice in IR text",
    explanation: "The IR is in SSA form: each value, block and memory object of a function, and \
each function of a file, is defined once.",
    example: "",
    by_test: Some("every_code_of_the_text_form_is_reported"),
};

/// A number that does not fit.
pub const NUMBER: CodeInfo = CodeInfo {
    code: "E0505",
    title: "number out of range in IR text",
    explanation: "A literal does not fit its type, a lane or an extent is out of range, or the \
number of a value or block is far beyond what a text of this length needs.",
    example: "",
    by_test: Some("every_code_of_the_text_form_is_reported"),
};

/// An intrinsic nobody knows.
pub const UNKNOWN_INTRINSIC: CodeInfo = CodeInfo {
    code: "E0506",
    title: "unknown intrinsic in IR text",
    explanation: "Intrinsics are operations that one target defines. The reader is given the \
names that exist, and this is none of them.",
    example: "",
    by_test: Some("every_code_of_the_text_form_is_reported"),
};

/// Every code of this crate.
pub const ALL: &[&CodeInfo] =
    &[&SYNTAX, &UNKNOWN_WORD, &UNDEFINED, &REDEFINED, &NUMBER, &UNKNOWN_INTRINSIC];
