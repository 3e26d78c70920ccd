//! Bodies: blocks, declarations in them, labels and tables, and what a name means at a place.
//! Instructions and their operands are in `operand.rs`.

use std::collections::BTreeSet;

use nbcc_base::{Diagnostic, Failed, Span};

use super::Resolver;
use super::scope::{Entity, Family, split_number};
use super::variable::Place;
use crate::ast::{
    BranchTarget, Declaration, Declarator, Loc, Name, ScalarType, Signature, StateSpace, Statement,
};
use crate::codes;
use crate::names::Symbol;
use crate::resolved::{
    Body, BodyItem, FunctionId, Label, LabelId, Location, RegId, Register, Table, TableKind,
    VariableId,
};
use crate::special::{SpecialKind, special};

/// What a body needs beside the module.
pub(super) struct Inside<'b> {
    pub id: FunctionId,
    pub body: &'b mut Body,
    /// For each block in the order of their opening braces: its labels.
    pub blocks: Vec<Vec<(Name, LabelId)>>,
    pub next_block: usize,
    /// Labels whose statement is behind.
    pub passed: usize,
    /// Tables anywhere in the body: for the message about one that is named too early.
    pub tables: BTreeSet<Symbol>,
    /// Names that are reported as unknown, once each.
    pub unknown: BTreeSet<Symbol>,
}

/// What a name means as an operand.
pub(super) enum Meaning {
    Entity(Entity),
    Label(LabelId),
    Special(SpecialKind),
}

impl Resolver<'_, '_> {
    /// The statements of a function whose parameters are declared already.
    pub(super) fn body(
        &mut self,
        id: FunctionId,
        body: &mut Body,
        statements: Vec<Statement>,
    ) -> Result<(), Failed> {
        let errors = self.errors;
        let mut inside = Inside {
            id,
            body,
            blocks: Vec::new(),
            next_block: 0,
            passed: 0,
            tables: BTreeSet::new(),
            unknown: BTreeSet::new(),
        };
        self.collect_labels(&mut inside, &statements);
        self.open_block(&mut inside);
        let mut depth = 0u32;
        for statement in statements {
            if self.gives_up() {
                break;
            }
            match statement {
                Statement::Open(_) => {
                    depth += 1;
                    self.scopes.enter();
                    self.open_block(&mut inside);
                }
                Statement::Close(span) => {
                    if depth > 0 {
                        self.scopes.leave();
                        depth -= 1;
                    } else {
                        inside.body.end = span;
                    }
                }
                // An error in one statement says nothing against the others.
                statement => {
                    let _ = self.statement(&mut inside, statement);
                }
            }
        }
        for _ in 0..depth {
            self.scopes.leave();
        }
        if self.errors > errors { Err(Failed) } else { Ok(()) }
    }

    /// Makes the labels of all blocks, which may be named before they stand.
    fn collect_labels(&mut self, inside: &mut Inside<'_>, statements: &[Statement]) {
        let mut open = vec![0];
        inside.blocks.push(Vec::new());
        for statement in statements {
            match statement {
                Statement::Open(_) => {
                    open.push(inside.blocks.len());
                    inside.blocks.push(Vec::new());
                }
                Statement::Close(_) => {
                    open.pop();
                }
                Statement::Label(name) => {
                    let label = inside.body.labels.push(Label {
                        name: name.symbol,
                        span: name.span,
                        item: usize::MAX,
                    });
                    if let Some(&block) = open.last() {
                        inside.blocks[block].push((*name, label));
                    }
                }
                Statement::Prototype(name, ..)
                | Statement::CallTargets(name, _)
                | Statement::BranchTargets(name, _) => {
                    inside.tables.insert(name.symbol);
                }
                _ => {}
            }
        }
    }

    /// Makes the labels of the next block known.
    fn open_block(&mut self, inside: &mut Inside<'_>) {
        let labels = std::mem::take(&mut inside.blocks[inside.next_block]);
        inside.next_block += 1;
        for (name, label) in labels {
            if self.gives_up() {
                break;
            }
            let depth = self.scopes.depth();
            match self.scopes.label(name.symbol).filter(|l| l.depth == depth) {
                Some(before) => {
                    let _ = self.redefined::<()>(name, before.span);
                }
                None => self.scopes.bind_label(name.symbol, label, name.span),
            }
        }
    }

    fn statement(&mut self, inside: &mut Inside<'_>, statement: Statement) -> Result<(), Failed> {
        match statement {
            Statement::Instruction(instruction) => self.instruction(inside, instruction),
            Statement::Label(name) => {
                // They were numbered in the same order.
                let label = LabelId::from_u32(inside.passed as u32);
                inside.passed += 1;
                if let Some(before) = self.here(name.symbol) {
                    return self.redefined(name, before);
                }
                inside.body.labels[label].item = inside.body.items.len();
                inside.body.items.push(BodyItem::Label(label));
                Ok(())
            }
            Statement::Declaration(declaration) => self.declaration(inside, &declaration),
            Statement::Loc(loc) => self.loc(inside, &loc),
            Statement::Prototype(name, signature, noreturn) => {
                self.prototype(inside, name, &signature, noreturn)
            }
            Statement::CallTargets(name, targets) => self.call_targets(inside, name, &targets),
            Statement::BranchTargets(name, targets) => self.branch_targets(inside, name, &targets),
            Statement::Open(_) | Statement::Close(_) => unreachable!("blocks are opened outside"),
        }
    }

    /// A name that is new in the innermost block, where labels that are behind count too.
    fn new_name(&mut self, inside: &Inside<'_>, name: Name) -> Result<(), Failed> {
        if let Some(before) = self.here(name.symbol) {
            return self.redefined(name, before);
        }
        let depth = self.scopes.depth();
        let label = self.scopes.label(name.symbol).filter(|l| l.depth == depth);
        if let Some(label) = label.filter(|l| inside.is_passed(l.label)) {
            return self.redefined(name, label.span);
        }
        Ok(())
    }

    fn declaration(
        &mut self,
        inside: &mut Inside<'_>,
        declaration: &Declaration,
    ) -> Result<(), Failed> {
        let checked = self.check_declaration(declaration, Place::Body);
        checked.inspect_err(|_| self.doubt(declaration))?;
        for declarator in &declaration.declarators {
            let declared = match declaration.space {
                StateSpace::Reg => self.register(inside, declaration, declarator),
                _ => self.body_variable(inside, declaration, declarator),
            };
            if declared.is_err() {
                self.resolved.doubtful.insert(declarator.name.symbol);
            }
        }
        Ok(())
    }

    fn body_variable(
        &mut self,
        inside: &mut Inside<'_>,
        declaration: &Declaration,
        declarator: &Declarator,
    ) -> Result<(), Failed> {
        self.new_name(inside, declarator.name)?;
        let variable = self.variable(declaration, declarator, Place::Body, Some(inside.id))?;
        let id = self.add_variable(declarator.name, variable)?;
        inside.body.variables.push(id);
        Ok(())
    }

    fn register(
        &mut self,
        inside: &mut Inside<'_>,
        declaration: &Declaration,
        declarator: &Declarator,
    ) -> Result<(), Failed> {
        // Arrays and initial values are refused there.
        self.variable(declaration, declarator, Place::Body, Some(inside.id))?;
        let name = declarator.name;
        let ty = declaration.ty.scalar;
        let vector = declaration.ty.vector;
        let depth = self.scopes.depth();
        if let Some(count) = declarator.range {
            if let Some(before) = self.scopes.family(name.symbol).filter(|f| f.depth == depth) {
                return self.redefined(name, before.span);
            }
            if let Some((_, before)) =
                self.scopes.least_number(name.symbol).filter(|&(n, _)| n < count)
            {
                return self.redefined(name, before);
            }
            let family = Family { depth, count, ty, vector, span: name.span };
            self.scopes.add_family(name.symbol, family);
            return Ok(());
        }
        self.new_name(inside, name)?;
        if let Some((stem, number)) = split_number(self.text(name.symbol))
            && let Some(stem) = self.resolved.names.get(stem)
        {
            let family = self.scopes.family(stem).filter(|f| f.depth == depth && number < f.count);
            if let Some(family) = family {
                return self.redefined(name, family.span);
            }
            self.scopes.declare_number(stem, number, name.span);
        }
        self.add_register(inside.body, name, ty, vector);
        Ok(())
    }

    /// Adds a register of its own name to the innermost block.
    pub(super) fn add_register(
        &mut self,
        body: &mut Body,
        name: Name,
        ty: ScalarType,
        vector: u8,
    ) -> RegId {
        let register =
            body.registers.push(Register { name: name.symbol, ty, vector, span: name.span });
        self.scopes.bind(name.symbol, Entity::Register(register), name.span);
        register
    }

    fn loc(&mut self, inside: &mut Inside<'_>, loc: &Loc) -> Result<(), Failed> {
        self.places.insert((loc.file, loc.line, loc.column));
        // What is missing may be the consequence of an error.
        if let Some(place) = loc.inlined_at
            && !self.places.contains(&place)
            && !self.resolved.incomplete
        {
            let (file, line, column) = place;
            return self.fail(
                Diagnostic::error(
                    &codes::INLINED_AT,
                    format!("no `.loc` names the place {file} {line} {column} of the inlined call"),
                )
                .at(loc.span, "inlined at a place that is unknown")
                .help(
                    "write the `.loc` of the call before those inlined at it, or \
                     leave `inlined_at` out",
                ),
            );
        }
        let function = loc.function_name.and_then(|(label, offset)| {
            let start =
                self.debug_labels.get(&label)?.checked_add(usize::try_from(offset).ok()?)?;
            let bytes = self.debug_bytes.get(start..)?;
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        });
        let location = Location {
            file: loc.file,
            line: loc.line,
            column: loc.column,
            function,
            inlined_at: loc.inlined_at,
        };
        inside.body.locs.push((inside.body.items.len(), location));
        Ok(())
    }

    fn prototype(
        &mut self,
        inside: &mut Inside<'_>,
        name: Name,
        signature: &Signature,
        noreturn: bool,
    ) -> Result<(), Failed> {
        self.new_name(inside, name)?;
        let mut lists = [Vec::new(), Vec::new()];
        let sources = [(true, &signature.returns), (false, &signature.params)];
        for (list, (is_return, declarations)) in lists.iter_mut().zip(sources) {
            for (index, declaration) in declarations.iter().enumerate() {
                let last = index + 1 == declarations.len();
                let place = match is_return {
                    true => Place::Return { only: declarations.len() == 1 },
                    false => Place::FunctionParameter { last },
                };
                self.check_declaration(declaration, place)?;
                let declarator = &declaration.declarators[0];
                let variable = self.variable(declaration, declarator, place, Some(inside.id))?;
                let id: VariableId = self.resolved.variables.push(variable);
                list.push(id);
            }
        }
        let [returns, params] = lists;
        self.table(inside, name, TableKind::Prototype { returns, params, noreturn });
        Ok(())
    }

    fn table(&mut self, inside: &mut Inside<'_>, name: Name, kind: TableKind) {
        let table = inside.body.tables.push(Table { name: name.symbol, span: name.span, kind });
        self.scopes.bind(name.symbol, Entity::Table(table), name.span);
    }

    fn call_targets(
        &mut self,
        inside: &mut Inside<'_>,
        name: Name,
        targets: &[Name],
    ) -> Result<(), Failed> {
        self.new_name(inside, name)?;
        let mut list = Vec::with_capacity(targets.len());
        for target in targets {
            match self.meaning(inside, *target)? {
                Meaning::Entity(Entity::Function(id)) if !self.resolved.functions[id].entry => {
                    list.push((id, target.span));
                }
                _ => return self.wrong_kind(target.symbol, target.span, "a `.func`"),
            }
        }
        self.table(inside, name, TableKind::CallTargets(list));
        Ok(())
    }

    fn branch_targets(
        &mut self,
        inside: &mut Inside<'_>,
        name: Name,
        targets: &[BranchTarget],
    ) -> Result<(), Failed> {
        self.new_name(inside, name)?;
        let mut list = Vec::with_capacity(targets.len());
        for target in targets {
            let Some(count) = target.range else {
                list.push((self.label(inside, target.name)?, target.name.span));
                continue;
            };
            let stem = self.text(target.name.symbol);
            for number in 0..count {
                let text = format!("{stem}{number}");
                let Some(symbol) = self.resolved.names.get(&text) else {
                    if self.resolved.incomplete {
                        return Err(Failed);
                    }
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNKNOWN_NAME,
                            format!("there is no label `{text}`"),
                        )
                        .at(target.name.span, format!("stands for {count} labels"))
                        .help(format!("name one of the {count} labels")),
                    );
                };
                let span = target.name.span;
                list.push((self.label(inside, Name { symbol, span })?, span));
            }
        }
        self.table(inside, name, TableKind::BranchTargets(list));
        Ok(())
    }

    fn label(&mut self, inside: &mut Inside<'_>, name: Name) -> Result<LabelId, Failed> {
        match self.meaning(inside, name)? {
            Meaning::Label(label) => Ok(label),
            _ => self.wrong_kind(name.symbol, name.span, "a label"),
        }
    }

    /// What a name means here.
    pub(super) fn meaning(
        &mut self,
        inside: &mut Inside<'_>,
        name: Name,
    ) -> Result<Meaning, Failed> {
        let symbol = name.symbol;
        let mut binding = self.scopes.get(symbol);
        if self.scopes.families_below(binding.map(|b| b.depth))
            && let Some((stem, number)) = split_number(self.text(symbol))
            && let Some(stem) = self.resolved.names.get(stem)
            && let Some(family) = self.scopes.family_of(stem, number)
            && binding.is_none_or(|b| b.depth < family.depth)
        {
            let register = inside.body.registers.push(Register {
                name: symbol,
                ty: family.ty,
                vector: family.vector,
                span: family.span,
            });
            let entity = Entity::Register(register);
            self.scopes.bind_at(family.depth, symbol, entity, family.span);
            binding = self.scopes.get(symbol);
        }
        if let Some(label) = self.scopes.label(symbol) {
            // A label that stands further in and is behind hides what is outside; otherwise what is
            // declared before this place comes first.
            let inner = binding.is_none_or(|b| b.depth < label.depth);
            if binding.is_none() || (inner && inside.is_passed(label.label)) {
                return Ok(Meaning::Label(label.label));
            }
        }
        if let Some(binding) = binding {
            return Ok(Meaning::Entity(binding.entity));
        }
        if let Some(kind) = special(self.text(symbol)) {
            return Ok(Meaning::Special(kind));
        }
        self.unknown(inside, name)
    }

    fn unknown<T>(&mut self, inside: &mut Inside<'_>, name: Name) -> Result<T, Failed> {
        if !inside.unknown.insert(name.symbol) {
            // Said before; the function is refused anyway.
            return Err(Failed);
        }
        if self.is_doubtful(name.symbol) {
            return Err(Failed);
        }
        let text = self.text(name.symbol);
        if inside.tables.contains(&name.symbol) {
            return self.fail(
                Diagnostic::error(&codes::TABLE, format!("`{text}` is named before it stands"))
                    .at(name.span, "not known yet")
                    .help("move the table or prototype before this instruction"),
            );
        }
        let diagnostic =
            Diagnostic::error(&codes::UNKNOWN_NAME, format!("`{text}` is not declared"))
                .at(name.span, "unknown here")
                .help("declare it before it is used, or check its spelling");
        let family = split_number(text)
            .and_then(|(stem, _)| self.resolved.names.get(stem))
            .and_then(|stem| Some((self.text(stem), self.scopes.family(stem)?)));
        let diagnostic = match family {
            Some((stem, Family { count, span, .. })) => {
                let range = match count {
                    0 => "declares no register".to_owned(),
                    _ => format!("declares {stem}0 to {stem}{}", count - 1),
                };
                diagnostic.and(span, range)
            }
            None => diagnostic,
        };
        self.fail(diagnostic)
    }

    pub(super) fn wrong_kind<T>(
        &mut self,
        name: Symbol,
        span: Span,
        needed: &str,
    ) -> Result<T, Failed> {
        let text = self.text(name);
        let what = match self.scopes.get(name).map(|b| b.entity) {
            Some(Entity::Register(_)) => "a register",
            Some(Entity::Variable(_)) => "a variable",
            Some(Entity::Function(id)) if self.resolved.functions[id].entry => "a kernel",
            Some(Entity::Function(_)) => "a function",
            Some(Entity::Table(_)) => "a table",
            None if self.scopes.label(name).is_some() => "a label",
            None => "a special register",
        };
        self.fail(
            Diagnostic::error(&codes::WRONG_KIND, format!("`{text}` is {what}, not {needed}"))
                .at(span, format!("{needed} is needed here"))
                .help(format!("name {needed}, or rename one of two that are called `{text}`")),
        )
    }
}

impl Inside<'_> {
    /// Whether the statement of a label is behind.
    fn is_passed(&self, label: LabelId) -> bool {
        (label.as_u32() as usize) < self.passed
    }
}
