//! Bodies: blocks, declarations in them, labels, instructions and their operands.

use std::collections::BTreeSet;

use nbcc_base::{Diagnostic, Failed, Span};

use super::Resolver;
use super::scope::{Entity, Family, split_number};
use super::variable::Place;
use crate::ast::{
    self, BranchTarget, Declaration, Declarator, Loc, Name, ScalarType, Signature, StateSpace,
    Statement,
};
use crate::codes;
use crate::names::Symbol;
use crate::resolved::{
    AddressBase, Body, BodyItem, Call, Callee, FunctionId, Guard, Instruction, Label, LabelId,
    Location, Operand, OperandKind, RegId, Register, Table, TableId, TableKind, VariableId,
};
use crate::special::{SpecialKind, special};

/// What a body needs beside the module.
struct Inside<'b> {
    id: FunctionId,
    body: &'b mut Body,
    /// For each block in the order of their opening braces: its labels.
    blocks: Vec<Vec<(Name, LabelId)>>,
    next_block: usize,
    /// Labels whose statement is behind.
    passed: usize,
    /// Tables anywhere in the body: for the message about one that is named too early.
    tables: BTreeSet<Symbol>,
    /// Names that are reported as unknown, once each.
    unknown: BTreeSet<Symbol>,
}

/// What a name means as an operand.
enum Meaning {
    Entity(Entity),
    Label(LabelId),
    Special(SpecialKind),
}

/// What an instruction may name beside values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// `bra`, `brx.idx`: labels and tables.
    Branch,
    /// `mov`: addresses of elements.
    Move,
    Other,
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
        self.check_declaration(declaration, Place::Body)?;
        for declarator in &declaration.declarators {
            let _ = match declaration.space {
                StateSpace::Reg => self.register(inside, declaration, declarator),
                _ => self.body_variable(inside, declaration, declarator),
            };
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
        if let Some(place) = loc.inlined_at
            && !self.places.contains(&place)
        {
            let (file, line, column) = place;
            return self.fail(
                Diagnostic::error(
                    &codes::INLINED_AT,
                    format!("no `.loc` names the place {file} {line} {column} of the inlined call"),
                )
                .at(loc.span, "inlined at a place that is unknown"),
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
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNKNOWN_NAME,
                            format!("there is no label `{text}`"),
                        )
                        .at(target.name.span, format!("stands for {count} labels")),
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
    fn meaning(&mut self, inside: &mut Inside<'_>, name: Name) -> Result<Meaning, Failed> {
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
                .at(name.span, "unknown here");
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

    fn wrong_kind<T>(&mut self, name: Symbol, span: Span, needed: &str) -> Result<T, Failed> {
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
                .at(span, format!("{needed} is needed here")),
        )
    }

    fn guard(
        &mut self,
        inside: &mut Inside<'_>,
        guard: Option<ast::Guard>,
    ) -> Result<Option<Guard>, Failed> {
        let Some(guard) = guard else { return Ok(None) };
        match self.meaning(inside, guard.name)? {
            Meaning::Entity(Entity::Register(register))
                if inside.body.registers[register].vector == 1 =>
            {
                Ok(Some(Guard { register, negated: guard.negated, span: guard.name.span }))
            }
            _ => self.wrong_kind(guard.name.symbol, guard.name.span, "a predicate register"),
        }
    }

    fn instruction(
        &mut self,
        inside: &mut Inside<'_>,
        instruction: ast::Instruction,
    ) -> Result<(), Failed> {
        let opcode = self.resolved.forms[instruction.form].opcode;
        let context = match self.text(opcode) {
            "call" => return self.call(inside, instruction),
            "bra" | "brx" => Context::Branch,
            "mov" => Context::Move,
            _ => Context::Other,
        };
        let guard = self.guard(inside, instruction.guard);
        let mut operands = Vec::with_capacity(instruction.operands.len());
        let mut failed = false;
        for operand in instruction.operands {
            match self.operand(inside, operand, context) {
                Ok(operand) => operands.push(operand),
                Err(Failed) => failed = true,
            }
        }
        let guard = guard?;
        if failed {
            return Err(Failed);
        }
        inside.body.items.push(BodyItem::Instruction(Instruction {
            guard,
            form: instruction.form,
            form_span: instruction.form_span,
            operands,
            span: instruction.span,
        }));
        Ok(())
    }

    fn operand(
        &mut self,
        inside: &mut Inside<'_>,
        operand: ast::Operand,
        context: Context,
    ) -> Result<Operand, Failed> {
        let span = operand.span;
        let kind = match operand.kind {
            ast::OperandKind::Constant(constant) => OperandKind::Constant(constant),
            ast::OperandKind::Sink => OperandKind::Sink,
            ast::OperandKind::Name { name, component } => {
                self.name(inside, name, component, span, context)?
            }
            ast::OperandKind::Sum { name, offset } => {
                match self.meaning(inside, Name { symbol: name, span })? {
                    Meaning::Entity(Entity::Variable(variable)) => {
                        OperandKind::Variable(variable, offset)
                    }
                    _ => return self.wrong_kind(name, span, "a variable"),
                }
            }
            ast::OperandKind::Index { name, offset } => {
                match self.meaning(inside, Name { symbol: name, span })? {
                    Meaning::Entity(Entity::Variable(id)) => {
                        let variable = &self.resolved.variables[id];
                        let bytes = variable.scalar.bytes().unwrap_or(1);
                        let element = i64::from(bytes * u32::from(variable.vector));
                        let offset = offset.wrapping_mul(element);
                        match context {
                            Context::Move => OperandKind::Variable(id, offset),
                            _ => OperandKind::Address(AddressBase::Variable(id), offset),
                        }
                    }
                    _ => return self.wrong_kind(name, span, "a variable"),
                }
            }
            ast::OperandKind::Address { base: None, offset } => {
                OperandKind::Address(AddressBase::Absolute, offset)
            }
            ast::OperandKind::Address { base: Some(base), offset } => {
                let found = match self.meaning(inside, base)? {
                    Meaning::Entity(Entity::Register(register))
                        if inside.body.registers[register].vector == 1 =>
                    {
                        AddressBase::Register(register)
                    }
                    Meaning::Entity(Entity::Variable(variable)) => AddressBase::Variable(variable),
                    _ => {
                        return self.wrong_kind(base.symbol, base.span, "a register or a variable");
                    }
                };
                OperandKind::Address(found, offset)
            }
            ast::OperandKind::Vector(list) => {
                OperandKind::Vector(self.operands(inside, list, context)?)
            }
            ast::OperandKind::Texture(list) => {
                OperandKind::Texture(self.operands(inside, list, context)?)
            }
            ast::OperandKind::Pair(pair) => {
                let [first, second] = *pair;
                OperandKind::Pair(Box::new([
                    self.operand(inside, first, context)?,
                    self.operand(inside, second, context)?,
                ]))
            }
            ast::OperandKind::Not(inner) => {
                OperandKind::Not(Box::new(self.operand(inside, *inner, context)?))
            }
            ast::OperandKind::Negated(inner) => {
                OperandKind::Negated(Box::new(self.operand(inside, *inner, context)?))
            }
            ast::OperandKind::List(_) => unreachable!("the parser reads lists in calls only"),
        };
        Ok(Operand { kind, span })
    }

    fn operands(
        &mut self,
        inside: &mut Inside<'_>,
        list: Vec<ast::Operand>,
        context: Context,
    ) -> Result<Vec<Operand>, Failed> {
        list.into_iter().map(|operand| self.operand(inside, operand, context)).collect()
    }

    /// A name, perhaps with a component, as an operand.
    fn name(
        &mut self,
        inside: &mut Inside<'_>,
        name: Symbol,
        component: Option<Symbol>,
        span: Span,
        context: Context,
    ) -> Result<OperandKind, Failed> {
        let meaning = self.meaning(inside, Name { symbol: name, span })?;
        let Some(component) = component else {
            return Ok(match meaning {
                Meaning::Entity(Entity::Register(register)) => OperandKind::Register(register),
                Meaning::Entity(Entity::Variable(variable)) => OperandKind::Variable(variable, 0),
                Meaning::Entity(Entity::Function(function)) => OperandKind::Function(function),
                Meaning::Special(_) => OperandKind::Special(name, None),
                Meaning::Entity(Entity::Table(table)) if context == Context::Branch => {
                    OperandKind::Table(table)
                }
                Meaning::Label(label) if context == Context::Branch => OperandKind::Label(label),
                Meaning::Label(_) | Meaning::Entity(Entity::Table(_)) => {
                    return self.wrong_kind(name, span, "a register or a constant");
                }
            });
        };
        let selector = self.text(component);
        let element = match selector {
            "x" | "r" => Some(0),
            "y" | "g" => Some(1),
            "z" | "b" => Some(2),
            "w" | "a" => Some(3),
            _ => None,
        };
        match (meaning, element) {
            (Meaning::Entity(Entity::Register(register)), element) => {
                let vector = inside.body.registers[register].vector;
                match element {
                    Some(element) if element < vector && vector > 1 => {
                        return Ok(OperandKind::Component(register, element));
                    }
                    None if vector == 1 && is_selector(selector) => {
                        return Ok(OperandKind::Selected(register, component));
                    }
                    _ => {}
                }
            }
            (Meaning::Special(SpecialKind::Vector), Some(element)) => {
                return Ok(OperandKind::Special(name, Some(element)));
            }
            _ => {}
        }
        let text = self.text(name);
        self.fail(
            Diagnostic::error(&codes::COMPONENT, format!("`{text}` has no `.{selector}`"))
                .at(span, "no such component"),
        )
    }

    /// `call (results), callee, (arguments), table`.
    fn call(
        &mut self,
        inside: &mut Inside<'_>,
        instruction: ast::Instruction,
    ) -> Result<(), Failed> {
        let guard = self.guard(inside, instruction.guard)?;
        let span = instruction.span;
        let mut operands = instruction.operands.into_iter().peekable();
        let list = |operands: &mut std::iter::Peekable<std::vec::IntoIter<ast::Operand>>| {
            operands.next_if(|o| matches!(o.kind, ast::OperandKind::List(_))).map_or(
                Vec::new(),
                |o| match o.kind {
                    ast::OperandKind::List(list) => list,
                    _ => unreachable!("only lists are taken"),
                },
            )
        };
        let returns = list(&mut operands);
        let callee = operands.next();
        let arguments = list(&mut operands);
        let table = operands.next();
        let malformed = |span: Span, label: &str| {
            Diagnostic::error(&codes::CALL, "a malformed call")
                .at(span, label.to_owned())
                .help("write `call (result), function, (arguments);`")
        };
        if let Some(extra) = operands.next() {
            return self.fail(malformed(extra.span, "too many operands"));
        }
        let Some(callee) = callee else {
            return self.fail(malformed(span, "names no function"));
        };
        let ast::OperandKind::Name { name, component: None } = callee.kind else {
            return self.fail(malformed(callee.span, "expected a function or a register"));
        };
        let callee_name = Name { symbol: name, span: callee.span };
        let table = match table {
            None => None,
            Some(operand) => Some(self.call_table(inside, operand)?),
        };
        let target = match (self.meaning(inside, callee_name)?, table) {
            (Meaning::Entity(Entity::Function(id)), None) if !self.resolved.functions[id].entry => {
                Callee::Function(id)
            }
            (Meaning::Entity(Entity::Register(register)), Some(table))
                if inside.body.registers[register].vector == 1 =>
            {
                Callee::Register(register, table)
            }
            (Meaning::Entity(Entity::Register(_)), None) => {
                return self.fail(
                    Diagnostic::error(
                        &codes::CALL,
                        "a call through a register without a prototype",
                    )
                    .at(callee.span, "whom does it call?")
                    .help("name a `.callprototype` or `.calltargets` behind the arguments"),
                );
            }
            (Meaning::Entity(Entity::Function(id)), Some(_))
                if !self.resolved.functions[id].entry =>
            {
                return self.wrong_kind(name, callee.span, "a register");
            }
            _ => return self.wrong_kind(name, callee.span, "a `.func`"),
        };
        let returns = self.arguments(inside, returns)?;
        let arguments = self.arguments(inside, arguments)?;
        inside.body.items.push(BodyItem::Call(Box::new(Call {
            guard,
            form: instruction.form,
            form_span: instruction.form_span,
            returns,
            callee: target,
            callee_span: callee.span,
            arguments,
            span,
        })));
        Ok(())
    }

    fn call_table(
        &mut self,
        inside: &mut Inside<'_>,
        operand: ast::Operand,
    ) -> Result<TableId, Failed> {
        let span = operand.span;
        let ast::OperandKind::Name { name, component: None } = operand.kind else {
            return self.fail(
                Diagnostic::error(&codes::CALL, "a malformed call")
                    .at(span, "expected a prototype or a list of targets")
                    .help("write `call (result), function, (arguments);`"),
            );
        };
        match self.meaning(inside, Name { symbol: name, span })? {
            Meaning::Entity(Entity::Table(table))
                if !matches!(inside.body.tables[table].kind, TableKind::BranchTargets(_)) =>
            {
                Ok(table)
            }
            _ => self.wrong_kind(name, span, "a prototype or a list of functions"),
        }
    }

    /// Results or arguments of a call.
    fn arguments(
        &mut self,
        inside: &mut Inside<'_>,
        list: Vec<ast::Operand>,
    ) -> Result<Vec<Operand>, Failed> {
        let list = self.operands(inside, list, Context::Other)?;
        for operand in &list {
            let fits = match operand.kind {
                OperandKind::Register(_) | OperandKind::Constant(_) | OperandKind::Sink => true,
                OperandKind::Variable(v, _) => {
                    self.resolved.variables[v].space == StateSpace::Param
                }
                _ => false,
            };
            if !fits {
                return self.fail(
                    Diagnostic::error(&codes::CALL, "an argument that cannot be passed")
                        .at(operand.span, "expected a register, a constant or a `.param` variable"),
                );
            }
        }
        Ok(list)
    }
}

impl Inside<'_> {
    /// Whether the statement of a label is behind.
    fn is_passed(&self, label: LabelId) -> bool {
        (label.as_u32() as usize) < self.passed
    }
}

/// Whether that selects bytes or halves of a register: `b0`, `h1`, `b7531`, `h32`.
fn is_selector(text: &str) -> bool {
    let digits = |most: u8, lengths: [usize; 2]| {
        lengths.contains(&(text.len() - 1))
            && text.bytes().skip(1).all(|b| b.is_ascii_digit() && b <= most)
    };
    match text.as_bytes().first() {
        Some(b'b') => digits(b'7', [1, 4]),
        Some(b'h') => digits(b'3', [1, 2]),
        _ => false,
    }
}
