//! Directives (C11, 6.10): which there are, and what each does.

use std::sync::Arc;

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Failed, SourceFile, Span, nearest};

use super::group::Group;
use super::state::{MAX_NESTING, Preprocessor};
use super::token::{Kind, Token};
use crate::codes;
use crate::names::Name;

#[derive(Clone, Copy)]
enum Directive {
    Define,
    Undef,
    Include,
    Error,
    Warning,
    Line,
    Pragma,
    If,
    Ifdef,
    Ifndef,
    Elif,
    Else,
    Endif,
}

impl Directive {
    const NAMES: [(&str, Directive); 13] = [
        ("define", Directive::Define),
        ("undef", Directive::Undef),
        ("include", Directive::Include),
        ("error", Directive::Error),
        ("warning", Directive::Warning),
        ("line", Directive::Line),
        ("pragma", Directive::Pragma),
        ("if", Directive::If),
        ("ifdef", Directive::Ifdef),
        ("ifndef", Directive::Ifndef),
        ("elif", Directive::Elif),
        ("else", Directive::Else),
        ("endif", Directive::Endif),
    ];

    fn named(name: &str) -> Option<Directive> {
        let mut known = Directive::NAMES.into_iter();
        known.find(|(known, _)| *known == name).map(|(_, directive)| directive)
    }
}

impl Preprocessor<'_> {
    /// A line that begins with `#`.
    pub(super) fn directive(
        &mut self,
        line: &[Token],
        file: &Arc<SourceFile>,
        groups: &mut Vec<Group>,
    ) -> Result<(), Failed> {
        let Some((&word, rest)) = line[1..].split_first() else { return Ok(()) };
        let reads = groups.iter().all(|group| group.reads);
        match Directive::named(self.names.text(word.text)) {
            Some(Directive::If) => {
                let holds = reads && self.holds(rest, word.span)?;
                return self.open_group(word.span, holds, groups);
            }
            Some(Directive::Ifdef) => {
                let holds = reads && self.names_macro(word, rest) == Some(true);
                return self.open_group(word.span, holds, groups);
            }
            Some(Directive::Ifndef) => {
                let holds = reads && self.names_macro(word, rest) == Some(false);
                return self.open_group(word.span, holds, groups);
            }
            Some(Directive::Elif) => return self.elif(word, rest, groups),
            Some(Directive::Else) => self.else_group(word, groups),
            Some(Directive::Endif) => self.end_group(word, groups),
            _ if !reads => {}
            Some(Directive::Define) => self.define(word, rest),
            Some(Directive::Undef) => {
                if let Some(name) = self.only_name(word, rest) {
                    self.macros.remove(&name);
                }
            }
            Some(Directive::Include) => return self.include(word, rest),
            Some(Directive::Error) => {
                let message = format!("#error {}", said(word, rest, file));
                let error = Diagnostic::error(&codes::USER_ERROR, message);
                let error = error.at(word.span, "the source says so");
                self.diagnostics.push(error.help("do what the source asks for"));
                self.incomplete = true;
            }
            Some(Directive::Warning) => {
                let message = format!("#warning {}", said(word, rest, file));
                let warning = Diagnostic::warning(&codes::USER_WARNING, message);
                self.diagnostics.push(warning.at(word.span, "the source says so"));
            }
            Some(Directive::Line) => {}
            Some(Directive::Pragma) => self.pragma(word, rest, file),
            None => self.unknown(word, groups),
        }
        Ok(())
    }

    fn unknown(&mut self, word: Token, groups: &mut Vec<Group>) {
        let name = self.names.text(word.text);
        let near = nearest(name, Directive::NAMES.map(|(name, _)| name));
        let help = match near {
            Some(near) => format!("did you mean `#{near}`?"),
            None => "remove the line".to_string(),
        };
        let error = Diagnostic::error(&codes::DIRECTIVE, format!("there is no `#{name}`"));
        self.diagnostics.push(error.at(word.span, "no directive").help(help));
        if let Some(meant) = near.and_then(Directive::named) {
            self.meant(meant, word.span, groups);
        }
    }

    /// Reads on behind a directive that was misspelt: what conditions say of the text in them is not known.
    fn meant(&mut self, directive: Directive, span: Span, groups: &mut Vec<Group>) {
        match directive {
            Directive::If | Directive::Ifdef | Directive::Ifndef => {
                if groups.len() == MAX_NESTING {
                    return;
                }
                groups.push(Group { span, reads: true, done: true, has_else: false });
            }
            Directive::Elif | Directive::Else => {
                if let Some(group) = groups.last_mut() {
                    group.reads = !group.done;
                }
            }
            Directive::Endif => {
                groups.pop();
            }
            Directive::Define | Directive::Include | Directive::Undef => {}
            Directive::Error | Directive::Warning | Directive::Line | Directive::Pragma => return,
        }
        self.refused.any = true;
    }

    /// Whether the name that `#ifdef` and `#ifndef` ask for is that of a macro.
    fn names_macro(&mut self, word: Token, rest: &[Token]) -> Option<bool> {
        let name = self.only_name(word, rest);
        self.refused.any |= name.is_none();
        Some(self.is_defined(name?))
    }

    /// The name that a directive is about; reported where there is none.
    pub(super) fn only_name(&mut self, word: Token, rest: &[Token]) -> Option<Name> {
        if let Some(token) = rest.first().filter(|token| token.kind == Kind::Name) {
            return Some(token.text);
        }
        let directive = self.names.text(word.text);
        let error = match rest.first() {
            Some(token) => {
                let text = shorten(self.names.text(token.text));
                let message = format!("`#{directive}` of `{text}`, which is no name");
                Diagnostic::error(&codes::DIRECTIVE, message).at(token.span, "no name")
            }
            None => {
                let message = format!("`#{directive}` without a name");
                Diagnostic::error(&codes::DIRECTIVE, message).at(word.span, "asks for a name")
            }
        };
        self.diagnostics.push(error.help("write the name of a macro"));
        None
    }

    fn pragma(&mut self, word: Token, rest: &[Token], file: &Arc<SourceFile>) {
        let first = rest.first().map(|token| self.names.text(token.text).to_string());
        match first.as_deref() {
            Some("once") => {
                self.once.insert(file.name.clone());
            }
            Some("nbcc") => {
                let words: Vec<&str> = rest[1..].iter().map(|t| self.names.text(t.text)).collect();
                let words = words.join(" ");
                let text = self.names.intern(&words);
                self.out.push(Token { kind: Kind::Pragma, text, ..word });
            }
            Some("STDC") | None => {}
            Some(other) => {
                let message = format!("`#pragma {}` is ignored", shorten(other));
                let note = Diagnostic::note(&codes::IGNORED, message);
                self.diagnostics.push(note.at(word.span, "not known here"));
            }
        }
    }
}

/// What stands behind `#error` or `#warning`.
fn said(word: Token, rest: &[Token], file: &SourceFile) -> String {
    let end = rest.last().map_or(word.span.end, |token| token.span.end);
    let said = &file.text[word.span.end as usize..end as usize];
    shorten(said.trim())
}
