//! From the syntax tree to a module whose names are entities: declarations of the module and of
//! functions are checked here, bodies in [`body`], instructions in [`operand`], sizes and types in [`variable`], initial values in
//! [`initial`].
//!
//! Everything is declared before it is used, as in one pass over the file; only labels may be named
//! before they stand.

mod body;
mod initial;
mod operand;
mod scope;
mod variable;

use std::collections::{BTreeMap, BTreeSet};

use nbcc_base::{Diagnostic, Diagnostics, Failed, Span};

use crate::ast::{Ast, Declaration, FunctionItem, Item, Linkage, Name, Signature, StateSpace};
use crate::codes;
use crate::names::Symbol;
use crate::resolved::{Body, Function, FunctionId, Parameter, Resolved, Variable, VariableId};
use scope::{Entity, Scopes, split_number};
use variable::Place;

/// After this many errors the rest of the file is not looked at.
const MAX_ERRORS: usize = 50;

/// Bytes of `.const` memory.
const MAX_CONST: u64 = 65536;

/// Bytes of a kernel's parameters before and since version 8.1.
const MAX_PARAMS: (u64, u64) = (4352, 32764);

/// The state while names are resolved.
struct Resolver<'a, 'd> {
    resolved: Resolved<'a>,
    scopes: Scopes,
    /// The texts of `.debug_str` by label: section and offset.
    debug_labels: BTreeMap<Symbol, usize>,
    debug_bytes: Vec<u8>,
    /// Places that a `.loc` named: what is inlined is inlined there.
    places: BTreeSet<(u64, u32, u32)>,
    /// Bytes of initial values so far.
    initial_bytes: u64,
    const_bytes: u64,
    errors: usize,
    diagnostics: &'d mut Diagnostics,
    text: &'a str,
}

/// Resolves the names of a file. `text` is its source. After errors the module lacks what they are
/// in; `Err` means that it is of no use.
pub(crate) fn resolve<'a>(
    ast: Ast<'a>,
    text: &'a str,
    diagnostics: &mut Diagnostics,
) -> Result<Resolved<'a>, Failed> {
    let Ast { names, forms, version, target, items, statements, incomplete, doubtful } = ast;
    let mut resolver = Resolver {
        resolved: Resolved {
            names,
            forms,
            version,
            target,
            variables: Default::default(),
            functions: Default::default(),
            files: BTreeMap::new(),
            incomplete,
            doubtful,
        },
        scopes: Scopes::default(),
        debug_labels: BTreeMap::new(),
        debug_bytes: Vec::new(),
        places: BTreeSet::new(),
        initial_bytes: 0,
        const_bytes: 0,
        errors: 0,
        diagnostics,
        text,
    };
    for item in &items {
        if let Item::Section(section) = item {
            let base = resolver.debug_bytes.len();
            resolver.debug_bytes.extend_from_slice(&section.bytes);
            let labels = section.labels.iter().map(|&(label, at)| (label, base + at));
            resolver.debug_labels.extend(labels);
        }
    }
    let mut statements = statements.into_iter();
    for item in items {
        // An error in one item says nothing against the others.
        let _ = match item {
            Item::Declaration(declaration) => resolver.module_variables(&declaration),
            Item::Function(function) => {
                let count = function.body.as_ref().map_or(0, ExactSizeIterator::len);
                let body: Vec<_> = statements.by_ref().take(count).collect();
                resolver.function(*function, body)
            }
            Item::Alias(name, old) => resolver.alias(name, old),
            Item::File { number, name, span } => resolver.file(number, name, span),
            Item::Section(_) => Ok(()),
        };
        if resolver.gives_up() {
            return Err(Failed);
        }
    }
    // After an error this may be its consequence.
    if !resolver.resolved.incomplete {
        resolver.undefined();
    }
    Ok(resolver.resolved)
}

impl<'a> Resolver<'a, '_> {
    fn text(&self, name: Symbol) -> &'a str {
        self.resolved.names.text(name)
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T, Failed> {
        self.error(diagnostic);
        Err(Failed)
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        self.resolved.incomplete = true;
        self.diagnostics.push(diagnostic);
    }

    /// Whether a name may be declared in what was left out: by itself, or in a range.
    fn is_doubtful(&self, name: Symbol) -> bool {
        let doubtful = &self.resolved.doubtful;
        let stem = || self.resolved.names.get(split_number(self.text(name))?.0);
        doubtful.contains(&name) || stem().is_some_and(|stem| doubtful.contains(&stem))
    }

    fn gives_up(&self) -> bool {
        self.errors >= MAX_ERRORS
    }

    fn redefined<T>(&mut self, name: Name, before: Span) -> Result<T, Failed> {
        let text = self.text(name.symbol);
        self.fail(
            Diagnostic::error(&codes::REDEFINED, format!("`{text}` is declared twice"))
                .at(name.span, "the second time")
                .and(before, "the first time")
                .help("rename one of the two, or leave one out"),
        )
    }

    fn file(&mut self, number: u64, name: Span, span: Span) -> Result<(), Failed> {
        let quoted = &self.text[name.start as usize..name.end as usize];
        let name = unquote(&quoted[1..quoted.len() - 1]);
        if self.resolved.files.insert(number, name).is_some() {
            return self.fail(
                Diagnostic::error(&codes::FILE_NUMBER, format!("a second file {number}"))
                    .at(span, "the number is taken")
                    .help("number every `.file` differently"),
            );
        }
        Ok(())
    }

    fn module_variables(&mut self, declaration: &Declaration) -> Result<(), Failed> {
        let checked = self.check_declaration(declaration, Place::Module);
        checked.inspect_err(|_| self.doubt(declaration))?;
        for declarator in &declaration.declarators {
            let Ok(variable) = self.variable(declaration, declarator, Place::Module, None) else {
                self.resolved.doubtful.insert(declarator.name.symbol);
                continue;
            };
            let _ = self.module_variable(declarator.name, variable);
        }
        Ok(())
    }

    /// Nothing is to be said against the use of what a refused declaration declares.
    fn doubt(&mut self, declaration: &Declaration) {
        let names = declaration.declarators.iter().map(|declarator| declarator.name.symbol);
        self.resolved.doubtful.extend(names);
    }

    fn module_variable(&mut self, name: Name, variable: Variable) -> Result<(), Failed> {
        let Some(before) = self.scopes.get(name.symbol) else {
            return self.add_variable(name, variable).map(|_| ());
        };
        let Entity::Variable(id) = before.entity else {
            return self.redefined(name, before.span);
        };
        let first = &self.resolved.variables[id];
        let alike = first.space == variable.space
            && first.scalar == variable.scalar
            && first.vector == variable.vector
            && first.array == variable.array
            && (first.bytes == variable.bytes || first.bytes.is_none() || variable.bytes.is_none());
        let (first_extern, second_extern) =
            (first.linkage == Linkage::Extern, variable.linkage == Linkage::Extern);
        if !first_extern && !second_extern {
            return self.redefined(name, before.span);
        }
        let text = self.text(name.symbol);
        if !alike {
            return self.fail(
                Diagnostic::error(
                    &codes::INCONSISTENT,
                    format!("`{text}` is declared with different types"),
                )
                .at(name.span, "another space, type or size")
                .and(before.span, "than here")
                .help("declare it alike everywhere"),
            );
        }
        let definition = if second_extern { first.linkage } else { variable.linkage };
        if definition == Linkage::Internal {
            return self.fail(
                Diagnostic::error(
                    &codes::LINKAGE,
                    format!("`{text}` is `.extern` and defined without linkage"),
                )
                .at(name.span, "the definition of an `.extern` variable is `.visible` or `.weak`")
                .and(before.span, "the other declaration")
                .help("write `.visible` before the definition"),
            );
        }
        if !second_extern {
            // What was named before the definition keeps its number.
            self.count_const(&variable, name.span)?;
            self.resolved.variables[id] = variable;
        }
        Ok(())
    }

    /// Adds a variable to the innermost block.
    fn add_variable(&mut self, name: Name, variable: Variable) -> Result<VariableId, Failed> {
        self.count_const(&variable, name.span)?;
        let id = self.resolved.variables.push(variable);
        self.scopes.bind(name.symbol, Entity::Variable(id), name.span);
        Ok(id)
    }

    fn count_const(&mut self, variable: &Variable, span: Span) -> Result<(), Failed> {
        if variable.space != StateSpace::Const || variable.linkage == Linkage::Extern {
            return Ok(());
        }
        let align = u64::from(variable.align.max(1));
        let start = self.const_bytes.next_multiple_of(align);
        self.const_bytes = start.saturating_add(variable.bytes.unwrap_or(0));
        if self.const_bytes > MAX_CONST {
            let bytes = self.const_bytes;
            self.const_bytes = 0;
            return self.fail(
                Diagnostic::error(
                    &codes::TOO_LARGE,
                    format!("{bytes} bytes of `.const` variables"),
                )
                .at(span, format!("does not fit: there are {MAX_CONST} bytes"))
                .help("put it into `.global`"),
            );
        }
        Ok(())
    }

    /// What nothing defines. An external variable with a size is as good as a definition, and one
    /// without in `.shared` is what a launch asks for. An external function may not be called, which
    /// is for the check of calls to say.
    fn undefined(&mut self) {
        let mut undefined = Vec::new();
        for function in self.resolved.functions.values() {
            if function.linkage != Linkage::Extern
                && function.body.is_none()
                && function.alias.is_none()
            {
                undefined.push((function.name, function.span));
            }
        }
        for variable in self.resolved.variables.values() {
            if variable.linkage == Linkage::Extern
                && variable.bytes.is_none()
                && variable.space != StateSpace::Shared
            {
                undefined.push((variable.name, variable.span));
            }
        }
        for (name, span) in undefined {
            let name = self.text(name);
            self.error(
                Diagnostic::error(
                    &codes::UNDEFINED,
                    format!("`{name}` is declared but not defined"),
                )
                .at(span, "nothing in this file defines it")
                .help("link the files before: a file is a whole program here"),
            );
        }
    }

    /// A kernel or function.
    fn function(
        &mut self,
        item: FunctionItem,
        statements: Vec<crate::ast::Statement>,
    ) -> Result<(), Failed> {
        let name = item.name;
        let (linkage, linkage_span) = item.linkage;
        if linkage == Linkage::Common {
            return self.fail(
                Diagnostic::error(&codes::LINKAGE, "`.common` of a function")
                    .at(linkage_span, "for `.global` variables only")
                    .help("write `.weak` in its place"),
            );
        }
        let text = self.text(name.symbol);
        if linkage == Linkage::Extern && item.body.is_some() {
            return self.fail(
                Diagnostic::error(&codes::LINKAGE, format!("`{text}` is `.extern` and has a body"))
                    .at(linkage_span, "a function that is defined elsewhere")
                    .help("write `.visible`"),
            );
        }
        if item.bounds.noreturn {
            self.feature("`.noreturn`", item.span, (6, 4), 30);
        }
        let before = self.scopes.get(name.symbol);
        let known = match before.map(|b| b.entity) {
            None => None,
            Some(Entity::Function(id)) => Some(id),
            Some(_) => {
                return self.redefined(name, before.map_or(name.span, |b| b.span));
            }
        };
        // The number is there before the parameters, which name their function.
        let id = known.unwrap_or_else(|| {
            self.resolved.functions.push(Function {
                name: name.symbol,
                span: name.span,
                entry: item.entry,
                linkage,
                returns: Vec::new(),
                params: Vec::new(),
                bounds: item.bounds.clone(),
                body: None,
                alias: None,
            })
        });
        if known.is_none() {
            self.scopes.bind(name.symbol, Entity::Function(id), name.span);
        }
        self.scopes.enter();
        let result = self.function_inside(id, known.is_some(), item, statements);
        self.scopes.leave();
        if self.resolved.functions[id].body.is_none() && result.is_err() {
            self.resolved.doubtful.insert(name.symbol);
        }
        result
    }

    fn function_inside(
        &mut self,
        id: FunctionId,
        known: bool,
        item: FunctionItem,
        statements: Vec<crate::ast::Statement>,
    ) -> Result<(), Failed> {
        let mut body = Body::default();
        let has_body = item.body.is_some();
        let (mut returns, mut params) =
            self.signature(id, &item.signature, item.entry, &mut body)?;
        if !has_body {
            for parameter in returns.iter_mut().chain(&mut params) {
                *parameter = match *parameter {
                    Parameter::Register(variable, _) => Parameter::Register(variable, None),
                    other => other,
                };
            }
        }
        if item.entry {
            self.check_parameter_space(&item, &params)?;
        }
        if known {
            self.check_again(id, &item, &returns, &params)?;
        }
        let function = &mut self.resolved.functions[id];
        if !known || has_body {
            function.span = item.name.span;
            function.returns = returns;
            function.params = params;
            let noreturn = function.bounds.noreturn;
            function.bounds = item.bounds;
            function.bounds.noreturn |= noreturn;
            if item.linkage.0 != Linkage::Internal {
                function.linkage = item.linkage.0;
            }
        }
        if has_body {
            let result = self.body(id, &mut body, statements);
            self.resolved.functions[id].body = Some(body);
            result?;
        }
        Ok(())
    }

    /// Results and parameters. Those in registers get one of the body.
    fn signature(
        &mut self,
        id: FunctionId,
        signature: &Signature,
        entry: bool,
        body: &mut Body,
    ) -> Result<(Vec<Parameter>, Vec<Parameter>), Failed> {
        let mut lists = [Vec::new(), Vec::new()];
        let sources = [(true, &signature.returns), (false, &signature.params)];
        for (list, (is_return, declarations)) in lists.iter_mut().zip(sources) {
            for (index, declaration) in declarations.iter().enumerate() {
                let last = index + 1 == declarations.len();
                let place = match () {
                    () if is_return => Place::Return { only: declarations.len() == 1 },
                    () if entry => Place::EntryParameter,
                    () => Place::FunctionParameter { last },
                };
                self.check_declaration(declaration, place)?;
                let declarator = &declaration.declarators[0];
                let variable = self.variable(declaration, declarator, place, Some(id))?;
                let name = declarator.name;
                let unnamed = self.text(name.symbol) == "_";
                if !unnamed && let Some(before) = self.here(name.symbol) {
                    return self.redefined(name, before);
                }
                let parameter = if declaration.space == StateSpace::Reg {
                    let variable = self.resolved.variables.push(variable);
                    let register =
                        self.add_register(body, name, declaration.ty.scalar, declaration.ty.vector);
                    Parameter::Register(variable, Some(register))
                } else {
                    let variable = self.resolved.variables.push(variable);
                    if !unnamed {
                        self.scopes.bind(name.symbol, Entity::Variable(variable), name.span);
                    }
                    Parameter::Variable(variable)
                };
                list.push(parameter);
            }
        }
        let [returns, params] = lists;
        Ok((returns, params))
    }

    /// Where a name is declared in the innermost block, if it is.
    fn here(&self, name: Symbol) -> Option<Span> {
        let depth = self.scopes.depth();
        self.scopes.get(name).filter(|b| b.depth == depth).map(|b| b.span)
    }

    /// The parameters of a kernel fit their space.
    fn check_parameter_space(
        &mut self,
        item: &FunctionItem,
        params: &[Parameter],
    ) -> Result<(), Failed> {
        let mut bytes = 0u64;
        for &parameter in params {
            let variable = &self.resolved.variables[parameter.variable()];
            bytes = bytes.next_multiple_of(u64::from(variable.align.max(1)));
            bytes = bytes.saturating_add(variable.bytes.unwrap_or(0));
        }
        let version = (self.resolved.version.major, self.resolved.version.minor);
        let most = if version < (8, 1) { MAX_PARAMS.0 } else { MAX_PARAMS.1 };
        if bytes <= most {
            return Ok(());
        }
        let name = self.text(item.name.symbol);
        self.fail(
            Diagnostic::error(
                &codes::TOO_LARGE,
                format!("`{name}` has {bytes} bytes of parameters"),
            )
            .at(item.signature.span, format!("at most {most} bytes in this version of PTX"))
            .help("pass a pointer"),
        )
    }

    /// A function that was declared before is declared alike.
    fn check_again(
        &mut self,
        id: FunctionId,
        item: &FunctionItem,
        returns: &[Parameter],
        params: &[Parameter],
    ) -> Result<(), Failed> {
        let name = item.name;
        let text = self.text(name.symbol);
        let function = &self.resolved.functions[id];
        let before = function.span;
        if function.body.is_some() {
            return self.redefined(name, before);
        }
        let different = |what: &str| {
            Diagnostic::error(&codes::INCONSISTENT, format!("`{text}` is declared with {what}"))
                .at(name.span, "differs")
                .and(before, "from this declaration")
                .help("declare it alike everywhere")
        };
        if function.entry != item.entry {
            return self.fail(different("`.entry` and with `.func`"));
        }
        if function.returns.len() != returns.len() || function.params.len() != params.len() {
            return self.fail(different("different numbers of parameters"));
        }
        let old = function.returns.iter().chain(&function.params);
        for (old, new) in old.zip(returns.iter().chain(params)) {
            let old = &self.resolved.variables[old.variable()];
            let new = &self.resolved.variables[new.variable()];
            let alike = (old.scalar, old.vector, old.space, old.array, old.align)
                == (new.scalar, new.vector, new.space, new.array, new.align)
                && (old.bytes == new.bytes || old.bytes.is_none() || new.bytes.is_none());
            if !alike {
                let (old, new) = (old.span, new.span);
                return self.fail(
                    Diagnostic::error(
                        &codes::INCONSISTENT,
                        format!("`{text}` is declared with different parameters"),
                    )
                    .at(new, "another type, size or alignment")
                    .and(old, "than here")
                    .help("declare its parameters alike everywhere"),
                );
            }
        }
        let (old, new) = (function.linkage, item.linkage.0);
        let fits = match (old, new) {
            (old, new) if old == new => true,
            // A definition takes the linkage of its declaration, except from elsewhere.
            (Linkage::Visible | Linkage::Weak, Linkage::Internal) => true,
            _ => false,
        };
        if !fits {
            return self.fail(
                Diagnostic::error(
                    &codes::LINKAGE,
                    format!("`{text}` is declared with different linkage"),
                )
                .at(item.linkage.1.to(name.span), "differs")
                .and(before, "from this declaration")
                .help("write the same directive before both"),
            );
        }
        Ok(())
    }

    /// `.alias name, old;`.
    fn alias(&mut self, name: Name, old: Name) -> Result<(), Failed> {
        self.feature("`.alias`", name.span, (6, 3), 30);
        let mut found = [None; 2];
        for (slot, name) in found.iter_mut().zip([name, old]) {
            let text = self.text(name.symbol);
            match self.scopes.get(name.symbol).map(|b| b.entity) {
                Some(Entity::Function(id)) if !self.resolved.functions[id].entry => {
                    *slot = Some(id);
                }
                Some(_) => {
                    return self.fail(
                        Diagnostic::error(&codes::ALIAS, format!("`{text}` is no `.func`"))
                            .at(name.span, "only a `.func` has an alias")
                            .help("name a `.func`"),
                    );
                }
                None if self.is_doubtful(name.symbol) => return Err(Failed),
                None => {
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNKNOWN_NAME,
                            format!("`{text}` is not declared"),
                        )
                        .at(name.span, "unknown here")
                        .help("both functions have to be declared before `.alias`"),
                    );
                }
            }
        }
        let [Some(new_id), Some(old_id)] = found else { return Err(Failed) };
        let (new, target) = (&self.resolved.functions[new_id], &self.resolved.functions[old_id]);
        let text = self.text(name.symbol);
        if new.body.is_some() || new.alias.is_some() {
            return self.fail(
                Diagnostic::error(&codes::ALIAS, format!("`{text}` is defined already"))
                    .at(name.span, "cannot be an alias too")
                    .and(new.span, "defined here")
                    .help("rename the alias, or leave the definition out"),
            );
        }
        if target.body.is_none() {
            if self.is_doubtful(old.symbol) {
                return Err(Failed);
            }
            let text = self.text(old.symbol);
            return self.fail(
                Diagnostic::error(&codes::ALIAS, format!("`{text}` is not defined"))
                    .at(old.span, "an alias is another name of a function with a body")
                    .help("define the function in this file, before the `.alias`"),
            );
        }
        let list = |f: &Function| {
            let of = |p: &Parameter| {
                let v = &self.resolved.variables[p.variable()];
                (v.scalar, v.vector, v.space, v.array, v.align, v.bytes)
            };
            (
                f.returns.iter().map(of).collect::<Vec<_>>(),
                f.params.iter().map(of).collect::<Vec<_>>(),
            )
        };
        if list(new) != list(target) {
            let span = new.span;
            return self.fail(
                Diagnostic::error(
                    &codes::ALIAS,
                    format!("`{text}` has other parameters than what it is an alias of"),
                )
                .at(name.span, "differs")
                .and(span, "declared here")
                .help("declare both with the same parameters and results"),
            );
        }
        self.resolved.functions[new_id].alias = Some(old_id);
        Ok(())
    }
}

/// A text without its escapes.
fn unquote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}
