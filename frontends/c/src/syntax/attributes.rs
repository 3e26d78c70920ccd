//! `__attribute__((...))` of gcc and clang. What may change what a program computes is refused,
//! whether it is known or not.

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Diagnostics};

use crate::codes;
use crate::names::Names;
use crate::preprocess::token::{Kind, Token};

/// Attributes that say how to compile or what to warn of, or promise what is true anyway.
const IGNORED: [&str; 41] = [
    "access",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume_aligned",
    "cold",
    "const",
    "deprecated",
    "error",
    "externally_visible",
    "fallthrough",
    "flatten",
    "format",
    "gnu_inline",
    "hot",
    "leaf",
    "malloc",
    "may_alias",
    "minsize",
    "no_instrument_function",
    "no_sanitize",
    "noclone",
    "noduplicate",
    "noinline",
    "noipa",
    "nonnull",
    "nonstring",
    "noreturn",
    "nothrow",
    "optimize",
    "pure",
    "returns_nonnull",
    "section",
    "target",
    "unavailable",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
    "warning",
    "zero_call_used_regs",
];

/// Reads the attributes that stand from `at` on, behind the word; the place behind them.
pub(super) fn read(
    list: &[Token],
    at: usize,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> usize {
    let end = parenthesis(list, at, names);
    let (mut depth, mut begins) = (0_u32, false);
    for token in &list[at..end] {
        let text = names.text(token.text);
        match text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if begins && token.kind == Kind::Name => {
                let name = text.trim_start_matches("__").trim_end_matches("__");
                let text = shorten(text);
                diagnostics.push(if IGNORED.contains(&name) {
                    let note = format!("the attribute `{text}` is ignored");
                    Diagnostic::note(&codes::IGNORED, note).at(token.span, "changes nothing")
                } else {
                    let message = format!("the attribute `{text}` is not supported");
                    let error = Diagnostic::error(&codes::ATTRIBUTE, message);
                    error.at(token.span, "may change what the program means").help("leave it out")
                });
            }
            _ => {}
        }
        begins = depth == 2 && matches!(text, "(" | ",");
    }
    end
}

/// The place behind what stands in parentheses from `at` on, if anything does.
pub(super) fn parenthesis(list: &[Token], mut at: usize, names: &Names) -> usize {
    let mut depth = 0_u32;
    while let Some(token) = list.get(at) {
        match names.text(token.text) {
            "(" => depth += 1,
            ")" if depth > 0 => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if names.text(token.text) == ")" { at + 1 } else { at };
        }
        at += 1;
    }
    at
}
