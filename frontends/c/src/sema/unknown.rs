//! Names that mean nothing where they stand: those that are declared later, those of headers that are
//! not included, and those that are misspelt.

use std::collections::HashMap;

use nbcc_base::{Diagnostic, Diagnostics, Span, nearest};

use super::Sema;
use crate::codes;
use crate::names::Name;
use crate::preprocess::headers;
use crate::syntax::ast::{Declaration, Item, Stmt, StmtKind};
use crate::syntax::type_errors::{is_type_of_header, unknown_type};

impl Sema<'_> {
    /// Reports a name that means nothing, once in each function.
    pub(super) fn unknown(&mut self, name: Name, span: Span) {
        let is_full = self.diagnostics.iter().count() >= Diagnostics::MAX;
        if is_full || self.refused.has(name) || !self.told.insert(name) {
            return;
        }
        let text = self.name(name).to_string();
        let header = headers::declaring(&text);
        if header.is_some_and(|header| !self.refused.headers.insert(header)) {
            return;
        }
        // In a cast or `sizeof` that is read as a call or a value, since no header declares it.
        if is_type_of_header(&text) {
            return self.diagnostics.push(unknown_type(&text, span));
        }
        let later = self.later.iter().rev().find_map(|names| names.get(&name)).copied();
        if let Some(declared) = later {
            let message = format!("`{text}` is used before its declaration");
            let error = Diagnostic::error(&codes::UNKNOWN, message).at(span, "not known yet");
            let error = error.and(declared, "declared here");
            let help = "move the declaration before this; of a function, write a prototype before";
            return self.diagnostics.push(error.help(help));
        }
        let mut known: Vec<&str> = self
            .scopes
            .iter()
            .rev()
            .flat_map(|scope| scope.symbols.keys())
            .map(|&name| self.names.text(name))
            .collect();
        known.sort_unstable();
        let words = ["break", "continue", "return", "sizeof", "default", "true", "false", "NULL"];
        let help = match (header, nearest(&text, known)) {
            (Some(header), _) => format!("write `#include <{header}>`"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => match nearest(&text, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it before".to_string(),
            },
        };
        self.error(&codes::UNKNOWN, span, format!("`{text}` is not declared"), "not known", help);
    }

    /// Goes into a block: what its statements declare is known as what comes.
    pub(super) fn enter_block(&mut self, list: &[Stmt]) {
        let mut names = HashMap::new();
        for stmt in list {
            if let StmtKind::Decl(declaration) = &stmt.kind {
                note(declaration, &mut names);
            }
        }
        self.later.push(names);
    }

    pub(super) fn leave_block(&mut self) {
        self.later.pop();
    }
}

/// The variables and functions that a file declares.
pub(super) fn declared_by(items: &[Item]) -> HashMap<Name, Span> {
    let mut names = HashMap::new();
    for item in items {
        match item {
            Item::Declaration(declaration) => note(declaration, &mut names),
            Item::Function { declarator, .. } => {
                if let Some(name) = declarator.name {
                    names.entry(name.name).or_insert(name.span);
                }
            }
            Item::StaticAssert(..) => {}
        }
    }
    names
}

fn note(declaration: &Declaration, names: &mut HashMap<Name, Span>) {
    for (declarator, _) in &declaration.items {
        if let Some(name) = declarator.name {
            names.entry(name.name).or_insert(name.span);
        }
    }
}
