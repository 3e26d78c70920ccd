//! Classes: a generator is a scope of its members around the bodies of `generate` and `schedule`,
//! whose statements are elaborated like those of a file.

use std::collections::{HashMap, HashSet};

use nbcc_base::Diagnostic;

use crate::codes;
use crate::elab::member::list;
use crate::elab::stmt::Flow;
use crate::elab::{Elab, GENERATOR_PARAM, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{Class, DeclKind, Ident, StmtId, StmtKind, Symbol, TypeWord};
use crate::value::Value;

/// The class that generators are derived from.
const GENERATOR: &str = "Generator";

/// Functions of a generator that Halide calls, in this order.
const ENTRIES: [&str; 3] = ["generate", "build", "schedule"];

/// So many generators are listed.
const SHOWN: usize = 12;

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

    fn is_generator(&self, class: &Class) -> bool {
        class.base.is_some_and(|base| self.names.text(base.name) == GENERATOR)
    }

    /// Chooses the generator that is elaborated: the one that the command line names, else the last
    /// of the file; of a template, what it is registered as first.
    pub(crate) fn choose_generator(&mut self) -> Result<()> {
        let mut classes: Vec<(StmtId, Ident)> = Vec::new();
        for &item in &self.ast.items {
            if let StmtKind::Class(class) = &self.ast.stmts[item].kind
                && self.is_generator(class)
            {
                classes.push((item, class.name));
            }
        }
        let mut registered: HashMap<&str, Vec<&str>> = HashMap::new();
        for generator in &self.types.registered {
            registered.entry(&generator.class).or_default().push(&generator.name);
        }
        let mut names: Vec<(String, StmtId)> = Vec::new();
        for &(item, class) in &classes {
            let class = self.names.text(class.name);
            match registered.get(class) {
                Some(list) => names.extend(list.iter().map(|name| ((*name).to_owned(), item))),
                None => names.push((class.to_owned(), item)),
            }
        }
        let Some(&(last, class)) = classes.last() else { return Ok(()) };
        let given = self.params.iter().find(|(name, _)| name == GENERATOR_PARAM);
        if names.len() == 1 && given.is_none() {
            self.generator = Some(last);
            return Ok(());
        }
        self.constants.push(GENERATOR_PARAM.to_owned());
        let shown: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).take(SHOWN).collect();
        let shown = list(&shown);
        if let Some((_, given)) = given {
            let class_name = |ident: Ident| self.names.text(ident.name) == given;
            let by_class = || classes.iter().find(|(_, name)| class_name(*name)).map(|c| c.0);
            let by_name = names.iter().find(|(name, _)| name == given).map(|(_, item)| *item);
            self.generator = by_name.or_else(by_class);
            if self.generator.is_some() {
                return Ok(());
            }
            let (label, help) = match names.len() {
                1 => ("the generator of the file", format!("its name is {shown}")),
                _ => ("one of the generators of the file", format!("the generators are {shown}")),
            };
            return self.fail(
                Diagnostic::error(&codes::CONVERSION, format!("no generator is called `{given}`"))
                    .at(class.span, label)
                    .help(help),
            );
        }
        self.generator = Some(last);
        let chosen = names.iter().find(|(_, item)| *item == last).map_or("", |(name, _)| name);
        let other = names.iter().find(|(name, _)| name != chosen).map_or("", |(name, _)| name);
        self.report(
            Diagnostic::note(
                &codes::SEVERAL_GENERATORS,
                format!("`{chosen}` is compiled, one of the generators {shown}"),
            )
            .at(class.span, "the last one")
            .help(format!("`--param {GENERATOR_PARAM}={other}` chooses another one")),
        );
        Ok(())
    }

    /// Elaborates a generator: its members, then its functions as Halide calls them.
    pub(crate) fn class(&mut self, id: StmtId, class: &Class) -> Result<()> {
        if !self.is_generator(class) {
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
        if self.generator != Some(id) {
            return Ok(());
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
            let slot = self.names.known(name).and_then(|name| self.lookup(name));
            if let Some(slot) = slot
                && let Value::Lambda(closure) = self.slots[slot].value.clone()
            {
                self.call_lambda(&closure, &[], self.slots[slot].span)?;
            }
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
