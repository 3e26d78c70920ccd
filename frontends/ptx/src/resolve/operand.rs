//! Instructions, calls and their operands: names become entities of a kind that may stand there.

use nbcc_base::{Diagnostic, Failed, Span};

use super::Resolver;
use super::body::{Inside, Meaning};
use super::scope::Entity;
use crate::ast::{self, FormId, Name, StateSpace};
use crate::codes;
use crate::names::Symbol;
use crate::resolved::{
    AddressBase, BodyItem, Call, Callee, Guard, Instruction, Operand, OperandKind, TableId,
    TableKind,
};
use crate::special::SpecialKind;

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

    pub(super) fn instruction(
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
        if context == Context::Move && self.moves_bits(instruction.form) {
            operands.iter_mut().for_each(|operand| spell_out(inside, operand));
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
                        if !variable.array {
                            return self.wrong_kind(name, span, "an array");
                        }
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

    /// Whether a `mov` moves bits of one size (`mov.b64`), into or out of a vector perhaps.
    fn moves_bits(&self, form: FormId) -> bool {
        let modifiers = &self.resolved.forms[form].modifiers;
        matches!(modifiers[..], [one] if self.text(one).starts_with('b'))
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
                .at(span, "no such component")
                .help("vectors have `.x`, `.y`, `.z`, `.w` as far as they are long"),
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
                        .at(operand.span, "expected a register, a constant or a `.param` variable")
                        .help("move it into a register first"),
                );
            }
        }
        Ok(list)
    }
}

/// Writes a vector register as the list of its elements.
fn spell_out(inside: &Inside<'_>, operand: &mut Operand) {
    let OperandKind::Register(register) = operand.kind else { return };
    let vector = inside.body.registers[register].vector;
    if vector > 1 {
        let element = |n| Operand { kind: OperandKind::Component(register, n), span: operand.span };
        operand.kind = OperandKind::Vector((0..vector).map(element).collect());
    }
}

/// Whether that selects bytes or halves of a register: `b0`, `h1`, `b7531`, `h32`.
fn is_selector(text: &str) -> bool {
    let digits = |most: u8, longest: usize| {
        (1..=longest).contains(&(text.len() - 1))
            && text.bytes().skip(1).all(|b| b.is_ascii_digit() && b <= most)
    };
    match text.as_bytes().first() {
        Some(b'b') => digits(b'7', 4),
        Some(b'h') => digits(b'3', 2),
        _ => false,
    }
}
