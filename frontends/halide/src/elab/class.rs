//! Classes: a generator is a scope of its members around the bodies of `generate` and `schedule`,
//! whose statements are elaborated like those of a file.

use std::collections::HashSet;

use nbcc_base::Diagnostic;

use crate::codes;
use crate::elab::stmt::Flow;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{Class, DeclKind, StmtId, StmtKind, Symbol, TypeWord};
use crate::value::Value;

/// The class that generators are derived from.
const GENERATOR: &str = "Generator";

/// Functions of a generator that Halide calls, in this order.
const ENTRIES: [&str; 3] = ["generate", "build", "schedule"];

impl Elab<'_> {
    /// Makes the functions among some statements known. Those of a class hide those of the file.
    pub(crate) fn know_functions(&mut self, items: &[StmtId]) {
        let mut seen: HashSet<Symbol> = HashSet::new();
        for &item in items {
            if let StmtKind::Function(function) = &self.ast.stmts[item].kind
                && seen.insert(function.name.name)
            {
                self.functions.insert(function.name.name, item);
            }
        }
    }

    /// Elaborates a generator: its members, then its functions as Halide calls them.
    pub(crate) fn class(&mut self, class: &Class) -> Result<()> {
        let is_generator = class.base.is_some_and(|base| self.names.text(base.name) == GENERATOR);
        if !is_generator {
            let name = self.names.text(class.name.name).to_owned();
            return self.fail(
                Diagnostic::error(
                    &codes::UNSUPPORTED,
                    format!("the class `{name}` is not a generator"),
                )
                .at(class.name.span, "not derived from `Generator`")
                .help("write its functions and constants without a class around them"),
            );
        }
        if let Some(first) = self.generator.replace(class.name.span) {
            return self.fail(
                Diagnostic::error(&codes::UNSUPPORTED, "a second generator in one file")
                    .at(class.name.span, "the second one")
                    .and(first, "the first one")
                    .help("a file is one pipeline: put each generator into a file of its own"),
            );
        }
        self.enter();
        self.base = self.scopes.len();
        self.know_functions(&class.members);
        self.items(&class.members);
        let entry = |elab: &Self, name: &str| {
            let symbol = elab.names.known(name)?;
            let item = *elab.functions.get(&symbol)?;
            class.members.contains(&item).then_some(item)
        };
        if entry(self, "generate").is_none() && entry(self, "build").is_none() {
            return self.fail(
                Diagnostic::error(&codes::NO_OUTPUT, "the generator has no `generate`")
                    .at(class.name.span, "nothing is computed")
                    .help("add `void generate() { ... }` with the definitions"),
            );
        }
        if let Some(item) = entry(self, "configure") {
            let span = self.ast.stmts[item].span;
            return self.fail(
                Diagnostic::error(&codes::UNSUPPORTED, "`configure` of Halide is not supported")
                    .at(span, "inputs and outputs that depend on parameters")
                    .help("declare the inputs and outputs as members"),
            );
        }
        for name in ENTRIES {
            if let Some(item) = entry(self, name)
                && let Some((Value::Func(func), _)) = self.entry(item)
                && self.hir.outputs.is_empty()
            {
                self.hir.outputs.push(func);
            }
        }
        Ok(())
    }

    /// Elaborates the body of a function that Halide calls; gives what it returns.
    fn entry(&mut self, item: StmtId) -> Option<Spanned> {
        let StmtKind::Function(function) = &self.ast.stmts[item].kind else { return None };
        let StmtKind::Block(body) = &self.ast.stmts[function.body].kind else { return None };
        let is_void = matches!(function.result, DeclKind::Plain(ty) if ty.word == TypeWord::Void);
        let saved = self.enter_frame();
        self.in_entry = true;
        let flow = self.items(body);
        self.in_entry = false;
        self.entry_scopes.extend(self.scopes.last().cloned());
        self.leave_frame(saved);
        match flow {
            Flow::Return(value) if !is_void => Some(value),
            _ => None,
        }
    }
}
