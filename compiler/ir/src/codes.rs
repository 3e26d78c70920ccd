//! Diagnostic codes of the text form of the IR.

nbcc_base::codes! {
    /// Every code of this crate.
    ALL;

    SYNTAX = "E0501", "IR text that cannot be read",
    "The text form of the IR has one instruction a line, as docs/ir.md describes. \
     Something else stands here: a missing comma, a token of another kind, a text that never ends.",
    by test "every_code_of_the_text_form_is_reported";

    UNKNOWN_WORD = "E0502", "unknown word in IR text",
    "Operations, conditions, types, spaces and execution models are a fixed set of \
     words, listed in docs/ir.md. This word is none of those that may stand here.",
    by test "every_code_of_the_text_form_is_reported";

    UNDEFINED = "E0503", "undefined name in IR text",
    "A value, block, memory object or function is used, but the function (or, for a \
     callee, the file) does not define it.",
    by test "every_code_of_the_text_form_is_reported";

    REDEFINED = "E0504", "name defined twice in IR text",
    "The IR is in SSA form: each value, block and memory object of a function, and \
     each function of a file, is defined once.",
    by test "every_code_of_the_text_form_is_reported";

    NUMBER = "E0505", "number out of range in IR text",
    "A literal does not fit its type, a lane or an extent is out of range, or the \
     number of a value or block is far beyond what a text of this length needs.",
    by test "every_code_of_the_text_form_is_reported";

    UNKNOWN_INTRINSIC = "E0506", "unknown intrinsic in IR text",
    "Intrinsics are operations that one target defines. The reader is given the \
     names that exist, and this is none of them.",
    by test "every_code_of_the_text_form_is_reported";
}
