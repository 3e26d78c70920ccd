//! Syntax errors of what macros stand for.

use nbcc_base::{Diagnostic, Span};

use super::repair::Repair;
use super::source::{Known, Source, Stray, UNEXPECTED, syntax};
use super::token::Token;
use crate::names::Names;
use crate::preprocess::Uses;

/// The error for a token that a macro has too much, as people write it who define variables.
pub(super) fn extra_of_macro(
    stray: Token,
    span: Span,
    uses: &Uses,
    names: &Names,
) -> Option<Diagnostic> {
    let found = uses.get(&span)?;
    let extra = match (stray, found.extra?) {
        (Token::Assign, extra @ "the `=`") | (Token::Semicolon, extra @ "the `;`") => extra,
        _ => return None,
    };
    let name = names.text(found.name);
    let label = format!("has {extra} of the macro in it");
    let help = format!("remove {extra} from `#define {name}`");
    Some(syntax(span, UNEXPECTED, &label, help))
}

impl Source<'_> {
    /// The error for a token that a macro has too much, as people write it who define variables.
    pub(super) fn in_macro(&self, stray: &Stray<'_>) -> Option<Known> {
        let numbers = [Some(stray.at), stray.at.checked_sub(1)];
        numbers.into_iter().flatten().find_map(|number| {
            let extra = *self.tokens.get(number)?;
            let error = extra_of_macro(extra, self.spans[number], self.uses, self.names)?;
            Some((error, Repair::Replace(number..number + 1, Vec::new())))
        })
    }

    /// The error for a name that the command line replaces where the source declares it.
    pub(super) fn given_macro(&self, stray: &Stray<'_>) -> Option<Known> {
        let numbers = [Some(stray.at), stray.at.checked_sub(1)];
        let (number, name) = numbers.into_iter().flatten().find_map(|number| {
            let found = self.uses.get(self.spans.get(number)?)?;
            let is_own = self.names.text(found.name).starts_with("__");
            (found.definition.is_none() && !is_own).then_some((number, found.name))
        })?;
        let span = self.spans[number];
        let same = |&number: &usize| self.spans[number] == span;
        let start = (0..number).rev().take_while(same).last().unwrap_or(number);
        let end = (number..self.spans.len()).take_while(same).last().unwrap_or(number) + 1;
        let text = self.names.text(name);
        let message = format!("`{text}` is a macro of the command line, and no name here");
        let error = syntax(span, &message, "replaced by what `-D` says", "");
        let help = format!("give a scalar with `--param {text}=VALUE`, not with `-D {text}=VALUE`");
        Some((error.help(help), Repair::Replace(start..end, vec![Token::Name(name)])))
    }
}
