//! Conditional groups: `#if` to `#endif` (C11, 6.10.1).

use nbcc_base::{Diagnostic, Failed, Span};

use super::state::{MAX_NESTING, Preprocessor};
use super::token::Token;
use crate::codes;

/// A conditional group that is open.
pub(super) struct Group {
    /// Where its `#if` stands.
    pub(super) span: Span,
    /// Whether this part of it is read.
    pub(super) reads: bool,
    /// Whether a part of it was or is read, or none may be.
    pub(super) done: bool,
    pub(super) has_else: bool,
}

impl Preprocessor<'_> {
    /// `#if` and the like, of a condition that holds, or does not.
    pub(super) fn open_group(
        &mut self,
        span: Span,
        holds: bool,
        groups: &mut Vec<Group>,
    ) -> Result<(), Failed> {
        if groups.len() == MAX_NESTING {
            let error = Diagnostic::error(&codes::LIMIT, "conditions nested too deep");
            let error = error.at(span, format!("more than {MAX_NESTING}"));
            return self.diagnostics.fail(error.help("join conditions with `&&`"));
        }
        let reads = groups.iter().all(|group| group.reads);
        groups.push(Group { span, reads: holds, done: holds || !reads, has_else: false });
        Ok(())
    }

    /// `#elif`.
    pub(super) fn elif(
        &mut self,
        word: Token,
        rest: &[Token],
        groups: &mut [Group],
    ) -> Result<(), Failed> {
        let outer = groups.split_last().is_none_or(|(_, outer)| outer.iter().all(|g| g.reads));
        let Some(group) = self.going_on(word, groups) else { return Ok(()) };
        if group.done || !outer {
            group.reads = false;
            return Ok(());
        }
        let holds = self.holds(rest, word.span)?;
        group.reads = holds;
        group.done = holds;
        Ok(())
    }

    /// `#else`.
    pub(super) fn else_group(&mut self, word: Token, groups: &mut [Group]) {
        if let Some(group) = self.going_on(word, groups) {
            group.has_else = true;
            group.reads = !group.done;
            group.done = true;
        }
    }

    /// `#endif`.
    pub(super) fn end_group(&mut self, word: Token, groups: &mut Vec<Group>) {
        if groups.pop().is_none() {
            self.misplaced(word, None);
        }
    }

    /// The group that goes on with a part of its own; reported where there is none.
    fn going_on<'g>(&mut self, word: Token, groups: &'g mut [Group]) -> Option<&'g mut Group> {
        match groups.last_mut() {
            Some(group) if !group.has_else => Some(group),
            group => {
                self.misplaced(word, group.map(|group| group.span));
                None
            }
        }
    }

    /// Reports a part of no condition, or of one that has its last part.
    fn misplaced(&mut self, word: Token, ended: Option<Span>) {
        let name = self.names.text(word.text);
        let error = |message: String| Diagnostic::error(&codes::DIRECTIVE, message);
        let error = match ended {
            Some(condition) => error(format!("`#{name}` behind the `#else`"))
                .at(word.span, "of a condition that has its last part")
                .and(condition, "the condition")
                .help("end the condition with `#endif` before"),
            None => error(format!("`#{name}` without `#if`"))
                .at(word.span, "belongs to no condition")
                .help("begin the condition with `#if`"),
        };
        self.diagnostics.push(error);
    }
}
