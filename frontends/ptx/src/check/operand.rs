//! Checks operands against the pattern of their form.

use nbcc_base::text::counted;
use nbcc_base::{Diagnostic, Span};

use super::types::{Class, bits, class, fits, fits_relaxed};
use super::{Checker, codes};
use crate::ast::StateSpace;
use crate::forms::{
    Matched, Meaning, Modifier, OperandKind as Kind, OperandPattern, Role, type_of,
};
use crate::resolved::{
    AddressBase, Constant, Instruction, Operand, OperandKind, Parameter, RegId, ScalarType,
};

/// Assigns operands to patterns: optional ones are left out from the left until the counts agree.
pub fn assign(
    patterns: &[OperandPattern],
    count: usize,
) -> Option<impl Iterator<Item = &OperandPattern> + Clone> {
    let mut surplus = patterns.len().checked_sub(count)?;
    if patterns.iter().filter(|p| p.optional).count() < surplus {
        return None;
    }
    Some(patterns.iter().filter(move |p| {
        let left_out = p.optional && surplus > 0;
        surplus -= usize::from(left_out);
        !left_out
    }))
}

/// The operand of `cp.async` that says how much of the source is read.
pub fn copied<'i>(inst: &'i Instruction, matched: &Matched) -> Option<&'i Operand> {
    let hints = usize::from(matched.modifiers.has(Modifier::L2CacheHint));
    inst.operands.get(3).filter(|_| inst.operands.len() - hints > 3)
}

/// The operands of an instruction that are results, by number.
pub fn results(inst: &Instruction, matched: &Matched) -> Vec<usize> {
    if matched.pattern.row.meaning == Meaning::Mov {
        return vec![0];
    }
    let Some(assigned) = assign(&matched.pattern.operands, inst.operands.len()) else {
        return Vec::new();
    };
    assigned.enumerate().filter(|(_, p)| p.is_result()).map(|(number, _)| number).collect()
}

impl Checker<'_, '_> {
    /// Checks all operands of an instruction.
    pub(super) fn operands(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        if matched.pattern.any_operands {
            return Some(());
        }
        let vectors = inst.operands.iter().any(|o| matches!(o.kind, OperandKind::Vector(_)));
        if matched.pattern.row.meaning == Meaning::Mov && vectors && inst.operands.len() == 2 {
            return self.vector_move(inst, matched);
        }
        let patterns = &matched.pattern.operands;
        let Some(assigned) = assign(patterns, inst.operands.len()) else {
            let most = patterns.len();
            let least = patterns.iter().filter(|p| !p.optional).count();
            let text = self.form_text(inst.form);
            let wanted = match (least, most) {
                (0, 0) => "no operands".to_string(),
                (1, 1) => "one operand".to_string(),
                _ if least == most => format!("{most} operands"),
                _ => format!("{least} or {most} operands"),
            };
            let given = inst.operands.len();
            return self.fail(
                Diagnostic::error(&codes::OPERAND_COUNT, format!("`{text}` takes {wanted}"))
                    .at(inst.span, format!("{given} given"))
                    .help(format!("write {wanted}")),
            );
        };
        for (operand, pattern) in inst.operands.iter().zip(assigned) {
            self.operand(inst, matched, operand, pattern)?;
        }
        match matched.pattern.row.meaning {
            Meaning::CpAsync => self.async_copy(inst, matched),
            _ => Some(()),
        }
    }

    /// The sizes of `cp.async`, or the predicate that stands for that of the source.
    fn async_copy(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let sizes: &[u64] = if matched.modifiers.has(Modifier::Cg) { &[16] } else { &[4, 8, 16] };
        let is_one = matches!(&inst.operands[2].kind,
            OperandKind::Constant(Constant::Int { bits, .. }) if sizes.contains(bits));
        if !is_one {
            let list: Vec<String> = sizes.iter().map(u64::to_string).collect();
            return self.kind(inst, inst.operands[2].span, &list.join(" or "));
        }
        let Some(limit) = copied(inst, matched) else { return Some(()) };
        let is_predicate = match &limit.kind {
            OperandKind::Not(_) => true,
            OperandKind::Register(reg) => self.register(*reg).ty == ScalarType::Pred,
            _ => false,
        };
        if is_predicate {
            return self.predicate(inst, limit);
        }
        let pattern = &matched.pattern.operands[3];
        self.value(inst, limit, ScalarType::U32, pattern)
    }

    fn operand(
        &mut self,
        inst: &Instruction,
        matched: &Matched,
        operand: &Operand,
        pattern: &OperandPattern,
    ) -> Option<()> {
        let ty = |reference| type_of(&matched.types, reference);
        match pattern.kind {
            Kind::Any => Some(()),
            Kind::Value(reference) if pattern.vector => {
                self.vector(inst, matched, operand, ty(reference), pattern)
            }
            Kind::Result(reference) if pattern.vector => {
                self.vector(inst, matched, operand, ty(reference), pattern)
            }
            Kind::Value(reference) => self.value(inst, operand, ty(reference), pattern),
            Kind::Result(reference) => self.result(inst, operand, ty(reference), pattern),
            Kind::ResultAndMaybePredicate(reference) => match &operand.kind {
                OperandKind::Pair(pair) => {
                    self.result(inst, &pair[0], ty(reference), pattern)?;
                    self.predicate_result(inst, &pair[1], true)
                }
                _ => self.result(inst, operand, ty(reference), pattern),
            },
            Kind::ResultAndPredicate(reference) => match &operand.kind {
                OperandKind::Pair(pair) => {
                    self.result(inst, &pair[0], ty(reference), pattern)?;
                    self.predicate_result(inst, &pair[1], true)
                }
                _ => self.kind(inst, operand.span, "a result and a predicate, `d|p`"),
            },
            Kind::PredicateResult => self.predicate_result(inst, operand, true),
            Kind::PredicateResults => match &operand.kind {
                OperandKind::Pair(pair) => {
                    self.predicate_result(inst, &pair[0], true)?;
                    self.predicate_result(inst, &pair[1], true)
                }
                _ => self.predicate_result(inst, operand, true),
            },
            Kind::Predicate => self.predicate(inst, operand),
            Kind::Address => self.address(inst, matched, operand),
            Kind::Pointer => self.pointer(inst, operand),
            Kind::Fragment(role) | Kind::FragmentResult(role) => {
                self.fragment(inst, matched, operand, pattern, role)
            }
            Kind::Constant => match operand.kind {
                OperandKind::Constant(Constant::Int { .. }) => Some(()),
                _ => self.kind(inst, operand.span, "an integer"),
            },
        }
    }

    /// Reports an operand that should be something else.
    pub(super) fn kind<T>(&mut self, inst: &Instruction, span: Span, wanted: &str) -> Option<T> {
        let text = self.form_text(inst.form);
        self.fail(
            Diagnostic::error(&codes::OPERAND_KIND, format!("`{text}` needs {wanted} here"))
                .at(span, "something else stands here")
                .help(format!(
                    "write {wanted} in its place; `mov` brings other values into a register"
                )),
        )
    }

    /// Reports a register of a wrong type.
    pub(super) fn wrong_type<T>(
        &mut self,
        inst: &Instruction,
        span: Span,
        reg: RegId,
        wanted: ScalarType,
        relaxed: bool,
    ) -> Option<T> {
        let register = self.register(reg);
        let (name, given) = (self.module.names.text(register.name), register.ty.name());
        let text = self.form_text(inst.form);
        let message = format!("`{text}` takes .{} here, not .{given}", wanted.name());
        let help = match (class(register.ty), class(wanted)) {
            (Class::Predicate, _) => "make a number of a predicate with `selp`".to_string(),
            (_, Class::Predicate) => "make a predicate of a number with `setp`".to_string(),
            _ if bits(register.ty) == bits(wanted) => {
                format!("move the bits with `mov.b{}` first", bits(wanted))
            }
            _ if relaxed => format!("use a register of at least {} bits", bits(wanted)),
            _ => format!("convert with `cvt` to .{} first", wanted.name()),
        };
        self.fail(
            Diagnostic::error(&codes::OPERAND_TYPE, message)
                .at(span, format!("`{name}` is of type .{given}"))
                .help(help),
        )
    }

    /// A register where a type is wanted.
    fn typed(
        &mut self,
        inst: &Instruction,
        span: Span,
        reg: RegId,
        wanted: ScalarType,
        relaxed: bool,
    ) -> Option<()> {
        let ty = self.register(reg).ty;
        let fit = if relaxed { fits_relaxed(ty, wanted) } else { fits(ty, wanted) };
        if fit { Some(()) } else { self.wrong_type(inst, span, reg, wanted, relaxed) }
    }

    fn scalar_register(&mut self, inst: &Instruction, span: Span, reg: RegId) -> Option<()> {
        if self.register(reg).vector == 1 {
            return Some(());
        }
        let text = self.form_text(inst.form);
        let name = self.module.names.text(self.register(reg).name);
        self.fail(
            Diagnostic::error(&codes::VECTOR, format!("`{text}` takes one element here"))
                .at(span, format!("`{name}` is a vector"))
                .help(format!("name an element, as in `{name}.x`")),
        )
    }

    /// Whether an instruction selects bytes and halves of its operands.
    fn selects(&self, inst: &Instruction) -> bool {
        use Meaning::{Simd, Video, Vmad, Vset};
        let matched = self.forms[inst.form].as_ref();
        matched.is_some_and(|m| matches!(m.pattern.row.meaning, Simd | Video | Vmad | Vset))
    }

    /// Whether an instruction negates its sources.
    fn negates(&self, inst: &Instruction) -> bool {
        let matched = self.forms[inst.form].as_ref();
        matched.is_some_and(|m| m.pattern.row.meaning == Meaning::Vmad)
    }

    /// A number where a type is wanted: integers for integers and bits, floats for floats and for
    /// the bits of floats of that size. A float with a point has the size of binary64.
    pub(super) fn constant(
        &mut self,
        inst: &Instruction,
        span: Span,
        constant: Constant,
        wanted: ScalarType,
    ) -> Option<()> {
        use ScalarType::*;
        let integer = matches!(constant, Constant::Int { .. });
        let fit = match wanted {
            F32 | F64 => !integer,
            B32 => integer || matches!(constant, Constant::F32(_)),
            B64 => integer || matches!(constant, Constant::F64(_)),
            F16 | F16x2 | Bf16 | Bf16x2 | F32x2 => false,
            _ => integer,
        };
        if fit {
            return Some(());
        }
        let text = self.form_text(inst.form);
        let (given, help) = match (integer, class(wanted)) {
            (true, Class::Float) if matches!(wanted, F32 | F64) => {
                ("an integer", "write it with a point, or as 0f and 8 hexadecimal digits")
            }
            (_, Class::Float) => ("a number", "move its bits into a register with `mov` first"),
            (_, Class::Bits) if bits(wanted) == 32 => {
                ("a float of 64 bits", "write it as 0f and 8 hexadecimal digits")
            }
            (_, Class::Bits) if bits(wanted) == 64 => {
                ("a float of 32 bits", "write it as 0d and 16 hexadecimal digits")
            }
            _ => ("a float", "write an integer"),
        };
        self.fail(
            Diagnostic::error(
                &codes::CONSTANT_TYPE,
                format!("`{text}` takes .{} here, not {given}", wanted.name()),
            )
            .at(span, format!("this is {given}"))
            .help(help),
        )
    }

    fn value(
        &mut self,
        inst: &Instruction,
        operand: &Operand,
        wanted: ScalarType,
        pattern: &OperandPattern,
    ) -> Option<()> {
        let span = operand.span;
        match &operand.kind {
            OperandKind::Register(reg) => {
                self.scalar_register(inst, span, *reg)?;
                self.typed(inst, span, *reg, wanted, pattern.relaxed)
            }
            OperandKind::Component(reg, _) => self.typed(inst, span, *reg, wanted, pattern.relaxed),
            OperandKind::Selected(reg, _) if self.selects(inst) => {
                self.typed(inst, span, *reg, wanted, false)
            }
            OperandKind::Negated(inner) if self.negates(inst) => {
                self.value(inst, inner, wanted, pattern)
            }
            OperandKind::Constant(_) if pattern.register => self.kind(inst, span, "a register"),
            OperandKind::Constant(constant) => self.constant(inst, span, *constant, wanted),
            OperandKind::Special(..) => self.special(inst, operand, wanted, pattern.special),
            OperandKind::Function(function) => {
                self.function_address(*function, span)?;
                match class(wanted) {
                    Class::Integer | Class::Bits if bits(wanted) >= 32 => Some(()),
                    _ => self.kind(inst, span, "a register or a number"),
                }
            }
            OperandKind::Variable(..) if pattern.special => match class(wanted) {
                Class::Integer | Class::Bits if !pattern.relaxed && bits(wanted) >= 32 => Some(()),
                _ => self.kind(inst, span, "a register"),
            },
            _ => self.kind(inst, span, "a register or a number"),
        }
    }

    /// A special register: read by `mov` and `cvt`, 64-bit ones into 64 bits.
    pub(super) fn special(
        &mut self,
        inst: &Instruction,
        operand: &Operand,
        wanted: ScalarType,
        allowed: bool,
    ) -> Option<()> {
        let OperandKind::Special(name, element) = &operand.kind else { return Some(()) };
        let name = self.module.names.text(*name);
        let text = self.form_text(inst.form);
        let known = |element| special_register(name, element).is_some();
        if !known(None) && !known(Some(0)) {
            return self.fail(
                Diagnostic::error(&codes::UNSUPPORTED, format!("`{name}` is not supported yet"))
                    .at(operand.span, "not supported")
                    .help("docs/language-ptx.md lists the special registers that are"),
            );
        }
        let (message, label) = match special_register(name, *element) {
            _ if !allowed => {
                (format!("`{text}` cannot read special registers"), "a special register")
            }
            None => (format!("`{name}` has another shape"), "a vector, or none"),
            Some(reg) if reg.ty().scalar.bits() > bits(wanted) => {
                (format!("`{name}` does not fit .{}", wanted.name()), "64 bits wide")
            }
            Some(_) if class(wanted) == Class::Float => {
                (format!("`{name}` is no .{}", wanted.name()), "an integer")
            }
            Some(_) => return Some(()),
        };
        self.fail(Diagnostic::error(&codes::SPECIAL, message).at(operand.span, label).help(
            "read it with `mov` into a register of its size; vectors by element, as `%tid.x`",
        ))
    }

    fn result(
        &mut self,
        inst: &Instruction,
        operand: &Operand,
        wanted: ScalarType,
        pattern: &OperandPattern,
    ) -> Option<()> {
        match &operand.kind {
            OperandKind::Register(reg) => {
                self.scalar_register(inst, operand.span, *reg)?;
                self.typed(inst, operand.span, *reg, wanted, pattern.relaxed)
            }
            OperandKind::Component(reg, _) => {
                self.typed(inst, operand.span, *reg, wanted, pattern.relaxed)
            }
            OperandKind::Selected(reg, _) if self.selects(inst) => {
                self.typed(inst, operand.span, *reg, wanted, false)
            }
            OperandKind::Sink if pattern.sink => Some(()),
            OperandKind::Sink => self.no_sink(inst, operand.span),
            OperandKind::Vector(elements) if elements.len() == 1 && pattern.relaxed => {
                self.result(inst, &elements[0], wanted, pattern)
            }
            OperandKind::Special(..) => {
                let text = self.form_text(inst.form);
                self.fail(
                    Diagnostic::error(
                        &codes::SPECIAL,
                        format!("`{text}` cannot write a special register"),
                    )
                    .at(operand.span, "this is only read")
                    .help("write the result to a register that is declared with `.reg`"),
                )
            }
            _ => self.kind(inst, operand.span, "a register for the result"),
        }
    }

    fn no_sink<T>(&mut self, inst: &Instruction, span: Span) -> Option<T> {
        let text = self.form_text(inst.form);
        self.fail(
            Diagnostic::error(&codes::SINK, format!("the result of `{text}` cannot be discarded"))
                .at(span, "a register must stand here")
                .help("declare a register for the result and write it in place of `_`"),
        )
    }

    fn predicate_result(
        &mut self,
        inst: &Instruction,
        operand: &Operand,
        sink: bool,
    ) -> Option<()> {
        match &operand.kind {
            OperandKind::Register(reg) => {
                self.typed(inst, operand.span, *reg, ScalarType::Pred, false)
            }
            OperandKind::Sink if sink => Some(()),
            _ => self.kind(inst, operand.span, "a predicate for the result"),
        }
    }

    fn predicate(&mut self, inst: &Instruction, operand: &Operand) -> Option<()> {
        match &operand.kind {
            OperandKind::Register(reg) => {
                self.typed(inst, operand.span, *reg, ScalarType::Pred, false)
            }
            OperandKind::Not(inner) => match inner.kind {
                OperandKind::Register(reg) => {
                    self.typed(inst, operand.span, reg, ScalarType::Pred, false)
                }
                _ => self.kind(inst, operand.span, "a predicate"),
            },
            OperandKind::Constant(Constant::Int { .. }) => Some(()),
            _ => self.kind(inst, operand.span, "a predicate"),
        }
    }

    /// The elements of a vector operand, or the one operand where there is no `.v2` and the like.
    fn vector(
        &mut self,
        inst: &Instruction,
        matched: &Matched,
        operand: &Operand,
        wanted: ScalarType,
        pattern: &OperandPattern,
    ) -> Option<()> {
        let length = vector_length(matched);
        let is_result = pattern.is_result();
        let elements: &[Operand] = match &operand.kind {
            OperandKind::Vector(elements) => elements,
            OperandKind::Register(reg) if length > 1 => {
                let given = usize::from(self.register(*reg).vector);
                if given != length {
                    return self.vector_length(inst, operand.span, length, given);
                }
                return self.typed(inst, operand.span, *reg, wanted, pattern.relaxed);
            }
            OperandKind::Special(name, None) if length == 4 && !is_result => {
                let name = self.module.names.text(*name);
                return match special_register(name, Some(0)) {
                    Some(_) if wanted.bytes() == Some(4) => Some(()),
                    _ => self.kind(inst, operand.span, "a vector"),
                };
            }
            _ => std::slice::from_ref(operand),
        };
        if elements.len() != length {
            return self.vector_length(inst, operand.span, length, elements.len());
        }
        if is_result && elements.iter().all(|e| e.kind == OperandKind::Sink) {
            return self.no_sink(inst, operand.span);
        }
        for element in elements {
            match &element.kind {
                OperandKind::Sink if is_result && length > 1 => {}
                _ if is_result => self.result(inst, element, wanted, pattern)?,
                _ => self.value(inst, element, wanted, pattern)?,
            }
        }
        self.alike(inst, elements)
    }

    /// The registers of a lane that hold a matrix.
    fn fragment(
        &mut self,
        inst: &Instruction,
        matched: &Matched,
        operand: &Operand,
        pattern: &OperandPattern,
        role: Option<Role>,
    ) -> Option<()> {
        let product = self.module.product(inst);
        let role = role.unwrap_or_else(|| named_role(matched));
        let OperandKind::Vector(elements) = &operand.kind else {
            return self.kind(inst, operand.span, "registers in braces");
        };
        let (count, wanted) = (product.registers(role) as usize, product.register_type(role));
        if elements.len() != count {
            return self.vector_length(inst, operand.span, count, elements.len());
        }
        // Numbers stand for elements, but not for several that share a register.
        let register = matches!(role, Role::A | Role::B) && wanted != ScalarType::F64;
        let pattern = OperandPattern { register, sink: true, ..*pattern };
        for element in elements {
            if pattern.is_result() {
                self.result(inst, element, wanted, &pattern)?;
            } else {
                self.value(inst, element, wanted, &pattern)?;
            }
            if let OperandKind::Register(reg) = element.kind
                && wanted == ScalarType::B32
                && register
                && class(self.register(reg).ty) != Class::Bits
            {
                return self.wrong_type(inst, element.span, reg, wanted, false);
            }
        }
        self.alike(inst, elements)
    }

    /// The registers of a vector are of one size, and not floats beside integers.
    pub(super) fn alike(&mut self, inst: &Instruction, elements: &[Operand]) -> Option<()> {
        let types = elements.iter().filter_map(|element| match element.kind {
            OperandKind::Register(reg) | OperandKind::Component(reg, _) => {
                Some((self.register(reg).ty, element.span))
            }
            _ => None,
        });
        // The first that is not `.bX` says which class the others have.
        let mut first: Option<(ScalarType, Span)> = None;
        for (ty, span) in types {
            let Some((before, at)) = first else {
                first = Some((ty, span));
                continue;
            };
            let classes = [class(before), class(ty)];
            let mixed = classes.contains(&Class::Float) && classes.contains(&Class::Integer);
            if bits(before) != bits(ty) || mixed {
                let text = self.form_text(inst.form);
                return self.fail(
                    Diagnostic::error(
                        &codes::VECTOR,
                        format!("the elements of the vector of `{text}` are not of one type"),
                    )
                    .at(span, format!("of type .{}", ty.name()))
                    .and(at, format!("of type .{}", before.name()))
                    .help(
                        "use registers of one type; `mov.b32` and the like carry \
                         bits from one type to another",
                    ),
                );
            }
            if classes[0] == Class::Bits {
                first = Some((ty, span));
            }
        }
        Some(())
    }

    fn vector_length<T>(
        &mut self,
        inst: &Instruction,
        span: Span,
        wanted: usize,
        given: usize,
    ) -> Option<T> {
        let text = self.form_text(inst.form);
        let wanted = counted(wanted, "element");
        self.fail(
            Diagnostic::error(&codes::VECTOR, format!("`{text}` takes {wanted} here"))
                .at(span, format!("{given} given"))
                .help(format!("write {wanted} between the braces")),
        )
    }

    /// A generic address as a value.
    fn pointer(&mut self, inst: &Instruction, operand: &Operand) -> Option<()> {
        match &operand.kind {
            OperandKind::Register(reg) | OperandKind::Component(reg, _) => {
                let ty = self.register(*reg).ty;
                let integer = matches!(class(ty), Class::Integer | Class::Bits);
                let narrow = bits(ty) == 32 && self.module.target.sm >= 90;
                if integer && bits(ty) >= 16 && !narrow {
                    return Some(());
                }
                self.wrong_type(inst, operand.span, *reg, ScalarType::U64, false)
            }
            _ => self.kind(inst, operand.span, "a register with an address"),
        }
    }

    fn address(&mut self, inst: &Instruction, matched: &Matched, operand: &Operand) -> Option<()> {
        let OperandKind::Address(base, _) = &operand.kind else {
            return self.kind(inst, operand.span, "an address in brackets");
        };
        let space = match matched.pattern.row.meaning {
            Meaning::CpAsync if std::ptr::eq(operand, &inst.operands[0]) => {
                Some(StateSpace::Shared)
            }
            _ => accessed_space(matched),
        };
        match *base {
            AddressBase::Register(reg) => {
                let register = self.register(reg);
                // There are no global and generic addresses of 32 bits.
                let wide = matches!(space, None | Some(StateSpace::Global));
                if matches!(class(register.ty), Class::Integer | Class::Bits)
                    && register.vector == 1
                    && bits(register.ty) >= 16
                    && !(wide && bits(register.ty) == 32)
                {
                    return Some(());
                }
                self.wrong_type(inst, operand.span, reg, ScalarType::U64, false)
            }
            AddressBase::Absolute if space == Some(StateSpace::Local) => Some(()),
            AddressBase::Absolute => {
                let text = self.form_text(inst.form);
                self.fail(
                    Diagnostic::error(
                        &codes::ABSOLUTE,
                        format!("`{text}` takes no number as an address"),
                    )
                    .at(operand.span, "this number is an address")
                    .help("put it into a register first"),
                )
            }
            AddressBase::Function(_) => {
                self.kind(inst, operand.span, "the address of a variable, not of a function,")
            }
            AddressBase::Variable(variable) => {
                let data = &self.module.variables[variable];
                let generic = matches!(
                    data.space,
                    StateSpace::Global | StateSpace::Shared | StateSpace::Local
                );
                let fit = match space {
                    None => generic,
                    Some(space) => space == data.space,
                };
                if !fit {
                    let text = self.form_text(inst.form);
                    let name = self.module.names.text(data.name);
                    let accessed = match space {
                        None => "generic addresses".to_string(),
                        Some(space) => format!("the state space .{}", space.name()),
                    };
                    return self.fail(
                        Diagnostic::error(&codes::SPACE, format!("`{text}` accesses {accessed}"))
                            .at(operand.span, format!("`{name}` is in .{}", data.space.name()))
                            .and(data.span, "declared here")
                            .help(match space {
                                None => "convert its address to a generic one with `cvta` first"
                                    .to_string(),
                                Some(_) => format!(
                                    "name the space `.{}` in the instruction",
                                    data.space.name()
                                ),
                            }),
                    );
                }
                let stores = matched.pattern.opcode == "st";
                if data.space == StateSpace::Param && stores {
                    let function = &self.module.functions[self.function];
                    if function.params.contains(&Parameter::Variable(variable)) {
                        let name = self.module.names.text(data.name);
                        let message = format!("the parameter `{name}` is only read");
                        return self.fail(
                            Diagnostic::error(&codes::READ_ONLY, message)
                                .at(operand.span, "written here")
                                .and(data.span, "a parameter of the function")
                                .help(
                                    "copy it into a register or a `.local` \
                                     variable, and change that",
                                ),
                        );
                    }
                }
                Some(())
            }
        }
    }
}

/// The state space that a memory instruction names; none: generic addresses.
pub fn accessed_space(matched: &Matched) -> Option<StateSpace> {
    matched.modifiers.pick(&[
        (Modifier::Global, StateSpace::Global),
        (Modifier::Shared, StateSpace::Shared),
        (Modifier::SharedCta, StateSpace::Shared),
        (Modifier::Local, StateSpace::Local),
        (Modifier::Const, StateSpace::Const),
        (Modifier::Param, StateSpace::Param),
        (Modifier::ParamEntry, StateSpace::Param),
        (Modifier::ParamFunc, StateSpace::Param),
    ])
}

/// The matrix that a modifier names.
pub fn named_role(matched: &Matched) -> Role {
    let roles = [
        (Modifier::A, Role::A),
        (Modifier::B, Role::B),
        (Modifier::C, Role::C),
        (Modifier::D, Role::D),
    ];
    matched.modifiers.pick(&roles).expect("a matrix is named")
}

/// How many elements `.v2` and the like ask for.
pub fn vector_length(matched: &Matched) -> usize {
    use Modifier::{V2, V4, V8, X2, X4};
    let lengths = [(V2, 2), (V4, 4), (V8, 8), (X2, 2), (X4, 4)];
    matched.modifiers.pick(&lengths).unwrap_or(1)
}

/// The special register of a PTX name (with its `%`) and element.
pub fn special_register(name: &str, element: Option<u8>) -> Option<nbcc_ir::SpecialReg> {
    let name = name.strip_prefix('%').unwrap_or(name);
    match element {
        None => nbcc_ir::SpecialReg::from_name(name),
        // The fourth element is there, too, and has the type of the others.
        Some(n @ 0..=3) => {
            let letter = ["x", "y", "z", "z"][usize::from(n)];
            nbcc_ir::SpecialReg::from_name(&format!("{name}_{letter}"))
        }
        Some(_) => None,
    }
}
