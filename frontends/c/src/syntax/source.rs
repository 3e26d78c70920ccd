//! The tokens of a file around one that the grammar does not take.

use std::collections::HashSet;

use nbcc_base::{Diagnostic, Span};

use super::repair::Repair;
use super::scopes::Scopes;
use super::token::{Token, Tokens, behind};
use crate::codes;
use crate::names::Names;
use crate::preprocess::Uses;

/// The message where label and help say the rest.
pub(super) const UNEXPECTED: &str = "this is not expected here";

/// What is said of an error, and how to go on.
pub(super) type Known = (Diagnostic, Repair);

/// A syntax error.
pub(super) fn syntax(
    span: Span,
    message: &str,
    label: &str,
    help: impl Into<String>,
) -> Diagnostic {
    Diagnostic::error(&codes::SYNTAX, message).at(span, label).help(help)
}

/// What is known of the tokens of a file.
pub(super) struct Source<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) spans: &'a [Span],
    pub(super) firsts: &'a [bool],
    pub(super) names: &'a Names,
    pub(super) uses: &'a Uses,
}

/// A token that the grammar does not take.
pub(super) struct Stray<'a> {
    /// Its number; that of all tokens where the file ends.
    pub(super) at: usize,
    /// What the grammar takes in its place.
    pub(super) expected: &'a [String],
    pub(super) scopes: &'a Scopes,
}

impl Stray<'_> {
    pub(super) fn takes(&self, what: &str) -> bool {
        takes(self.expected, what)
    }

    /// Whether a type is missing, and no value.
    pub(super) fn wants_type(&self) -> bool {
        self.takes("type") && !self.takes("integer")
    }
}

/// Whether the grammar takes a token of that name.
pub(super) fn takes(expected: &[String], what: &str) -> bool {
    expected.iter().any(|known| known.trim_matches('"') == what)
}

impl<'a> Source<'a> {
    pub(super) fn new(tokens: &'a Tokens, names: &'a Names, uses: &'a Uses) -> Source<'a> {
        let Tokens { kinds, spans, firsts } = tokens;
        Source { tokens: kinds, spans, firsts, names, uses }
    }

    /// Whether a token stands in parentheses or brackets that were closed because nothing closed them,
    /// or is where that was done.
    pub(super) fn in_closed(&self, at: usize, closed: &HashSet<Span>) -> bool {
        let Some(span) = self.spans.get(at) else { return true };
        let mut open = self.open_at(at);
        while let Some(number) = open.filter(|&number| self.tokens[number] != Token::OpenBrace) {
            if closed.contains(&self.spans[number]) {
                return true;
            }
            open = self.open_at(number);
        }
        span.start == span.end
    }

    /// The place before a token where another one is missing.
    pub(super) fn gap(&self, at: usize) -> Span {
        let before = self.spans[at - 1];
        // Both come from one macro: where it is used.
        if before == self.spans[at] { before } else { behind(before) }
    }

    /// What closes the bracket that a token opens.
    pub(super) fn close_of(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (open..self.tokens.len()).find(|&number| {
            match self.tokens[number] {
                Token::Open | Token::OpenBrace | Token::OpenIndex => depth += 1,
                Token::Close | Token::CloseBrace | Token::CloseIndex => depth -= 1,
                _ => {}
            }
            depth == 0
        })
    }

    /// The token that stands so many before another.
    pub(super) fn before(&self, at: usize, count: usize) -> Option<Token> {
        self.tokens.get(at.checked_sub(count)?).copied()
    }

    /// The innermost bracket that is open before a token.
    pub(super) fn open_at(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (0..at.min(self.tokens.len())).rev().find(|&number| match self.tokens[number] {
            Token::Close | Token::CloseBrace | Token::CloseIndex => {
                depth += 1;
                false
            }
            Token::Open | Token::OpenBrace | Token::OpenIndex if depth > 0 => {
                depth -= 1;
                false
            }
            Token::Open | Token::OpenBrace | Token::OpenIndex => true,
            _ => false,
        })
    }
}
