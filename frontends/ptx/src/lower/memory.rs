//! Moves, loads, stores, atomic operations, addresses.

use nbcc_ir::{
    Access, AtomOp, Atomic, BinaryOp, IntCond, Op, Ordering, SimtOp, Space, Type, Value,
};

use super::context::{Home, Lowerer, Var};
use super::types::{integer_of, num_type, register_type, same_size_integer};
use crate::ast::{ScalarType, StateSpace};
use crate::check::{accessed_space, bits, copied, is_signed, vector_length};
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{AddressBase, Instruction, Operand, OperandKind};

/// What a memory operand refers to.
pub(super) enum Place {
    /// Memory at base plus offset.
    Memory(Space, Value, i64),
    /// A scalar in `.param` space, which is a value.
    Scalar(Var),
}

fn ir_space(space: StateSpace) -> Space {
    match space {
        StateSpace::Global => Space::Global,
        StateSpace::Shared => Space::Shared,
        StateSpace::Local => Space::Local,
        StateSpace::Const => Space::Const,
        StateSpace::Param => Space::Param,
        StateSpace::Reg | StateSpace::Tex => panic!(".{} has no addresses", space.name()),
    }
}

fn ordering(matched: &Matched) -> Ordering {
    let list = [
        (Modifier::Volatile, Ordering::Volatile),
        (Modifier::Mmio, Ordering::Volatile),
        (Modifier::Acquire, Ordering::Acquire),
        (Modifier::Release, Ordering::Release),
        (Modifier::Relaxed, Ordering::Relaxed),
    ];
    matched.modifiers.pick(&list).unwrap_or(Ordering::Weak)
}

impl Lowerer<'_> {
    /// `mov` of one value, of a vector into one value, of one value into a vector.
    pub(super) fn mov(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let [to, from] = inst.operands.as_slice() else { panic!("mov has two operands") };
        match (&to.kind, &from.kind) {
            (OperandKind::Vector(elements), _) if elements.len() > 1 => {
                let whole = self.read(from, integer_scalar(ty));
                let size = bits(ty) / elements.len() as u32;
                let part = bits_type(size);
                for (number, element) in elements.iter().enumerate() {
                    if element.kind == OperandKind::Sink {
                        continue;
                    }
                    let value = self.part(whole, number, integer_of(part));
                    self.write(element, part, value);
                }
            }
            (_, OperandKind::Vector(elements)) if elements.len() > 1 => {
                let size = bits(ty) / elements.len() as u32;
                let part = bits_type(size);
                let parts: Vec<Value> = elements.iter().map(|e| self.read(e, part)).collect();
                let whole = self.join(&parts, integer_of(ty));
                self.write(to, ty, whole);
            }
            _ => {
                let value = match self.variable_of(from) {
                    // The register's own bits, so that a copy is no operation at all.
                    Some(var) => self.get(var),
                    None => self.read(from, ty),
                };
                self.write(to, ty, value);
            }
        }
    }

    /// Part `number` of an integer, counted from the lowest bits.
    pub(super) fn part(&mut self, whole: Value, number: usize, part: Type) -> Value {
        let mut value = whole;
        if number > 0 {
            let by = u64::from(part.scalar.bits()) * number as u64;
            let by = self.constant(self.func.ty(whole), by);
            value = self.binary(BinaryOp::Lshr, value, by);
        }
        self.fit(value, part, false)
    }

    /// One integer made of parts of the same size, the first lowest.
    pub(super) fn join(&mut self, parts: &[Value], whole: Type) -> Value {
        let integer = same_size_integer(whole);
        let size = integer.scalar.bits() / parts.len() as u32;
        let mut joined = None;
        for (number, &part) in parts.iter().enumerate() {
            let mut value = self.fit(part, integer, false);
            if number > 0 {
                let by = self.constant(integer, u64::from(size) * number as u64);
                value = self.binary(BinaryOp::Shl, value, by);
            }
            joined = Some(match joined {
                None => value,
                Some(low) => self.binary(BinaryOp::Or, low, value),
            });
        }
        joined.expect("a vector has elements")
    }

    /// `mov.v2` and `mov.v4`.
    pub(super) fn mov_vector(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let count = vector_length(matched);
        let from = self.elements(&inst.operands[1], count);
        let values: Vec<Value> = from.iter().map(|element| self.read(element, ty)).collect();
        for (element, value) in self.elements(&inst.operands[0], count).iter().zip(values) {
            self.write(element, ty, value);
        }
    }

    /// The elements of a vector operand, or the operand itself.
    fn elements(&self, operand: &Operand, count: usize) -> Vec<Operand> {
        let element = |kind| Operand { kind, span: operand.span };
        match &operand.kind {
            OperandKind::Vector(elements) => elements.clone(),
            OperandKind::Register(reg) if count > 1 => {
                (0..count as u8).map(|n| element(OperandKind::Component(*reg, n))).collect()
            }
            OperandKind::Special(name, None) if count > 1 => {
                (0..count as u8).map(|n| element(OperandKind::Special(*name, Some(n)))).collect()
            }
            _ => vec![operand.clone()],
        }
    }

    pub(super) fn place(&mut self, operand: &Operand, space: Option<StateSpace>) -> Place {
        let OperandKind::Address(base, offset) = operand.kind else {
            panic!("a memory operand that was not checked")
        };
        let named = space.map_or(Space::Generic, ir_space);
        match base {
            AddressBase::Register(reg) => {
                let value = self.get(self.first[reg]);
                let address = self.fit(value, Type::I64, false);
                let space = if named == Space::Param { self.parameter_space() } else { named };
                Place::Memory(space, address, offset)
            }
            AddressBase::Absolute => {
                let zero = self.constant(Type::I64, 0);
                Place::Memory(named, zero, offset)
            }
            AddressBase::Function(_) => panic!("the address of a function as data"),
            AddressBase::Variable(variable) => match self.homes[variable] {
                Some(Home::Scalar(var)) => Place::Scalar(var),
                Some(Home::Kernel(at)) => {
                    let zero = self.constant(Type::I64, 0);
                    Place::Memory(Space::Param, zero, i64::from(at).wrapping_add(offset))
                }
                Some(Home::Object(object)) => {
                    let address = self.address_of(object);
                    Place::Memory(Space::Local, address, offset)
                }
                Some(Home::Pointer(var)) => {
                    let address = self.get(var);
                    Place::Memory(Space::Local, address, offset)
                }
                // A plain access is to the variable's own space, whether it was named or not.
                None => {
                    let space = ir_space(self.declaration(variable).space);
                    let address = self.variable_address(variable, 0);
                    Place::Memory(space, address, offset)
                }
            },
        }
    }

    /// `ld`, `ldu`. Cache operators and hints do not change what is loaded.
    pub(super) fn load(&mut self, inst: &Instruction, matched: &Matched, guard: Option<Value>) {
        let ty = matched.types[0];
        let count = vector_length(matched);
        let elements = self.elements(&inst.operands[0], count);
        let (space, base, offset) = match self.place(&inst.operands[1], accessed_space(matched)) {
            Place::Scalar(var) => {
                let value = self.get(var);
                self.write(&elements[0], ty, value);
                return self.select_pending(guard);
            }
            Place::Memory(space, base, offset) => (space, base, offset),
        };
        // Memory is read as what the registers are where that is as wide.
        let first = elements.iter().find_map(|e| self.variable_of(e));
        let natural = register_type(ty);
        let element = match first.map(|var| self.types[var as usize]) {
            Some(reg) if reg.scalar.bits() == natural.scalar.bits() => reg,
            _ => natural,
        };
        let loaded = element.with_lanes(count as u8);
        let ordering = ordering(matched);
        let value = if guard.is_none() && ordering == Ordering::Weak {
            self.value(Op::LoadRaw(loaded, space, base, offset), loaded)
        } else {
            let guarded = guard.is_some();
            let access = Access { ty: loaded, space, offset, ordering, guarded };
            let mut args = vec![base];
            if let Some(guard) = guard {
                args.push(guard);
                args.push(self.old(&elements, element, loaded));
            }
            self.simt(SimtOp::Load(access), args, loaded)
        };
        for (number, operand) in elements.iter().enumerate() {
            if self.variable_of(operand).is_none() {
                continue;
            }
            let part = match count {
                1 => value,
                _ => self.value(Op::Extract(value, number as u8), element),
            };
            self.write(operand, ty, part);
        }
        let Some(guard) = guard else { return };
        // What was extended has lost the upper bits of the old value.
        for entry in 0..self.pending.len() {
            let (var, value) = self.pending[entry];
            if self.types[var as usize].scalar.bits() != element.scalar.bits() {
                let old = self.get(var);
                self.pending[entry].1 = self.select(guard, value, old);
            }
        }
    }

    fn select_pending(&mut self, guard: Option<Value>) {
        let Some(guard) = guard else { return };
        for entry in 0..self.pending.len() {
            let (var, value) = self.pending[entry];
            let old = self.get(var);
            self.pending[entry].1 = self.select(guard, value, old);
        }
    }

    /// What a guarded load gives where its guard is false: the old values of its registers.
    fn old(&mut self, elements: &[Operand], element: Type, loaded: Type) -> Value {
        let mut parts = Vec::with_capacity(elements.len());
        for operand in elements {
            let value = match self.variable_of(operand) {
                Some(var) => self.get(var),
                None => self.constant(element, 0),
            };
            parts.push(self.fit(value, element, false));
        }
        self.vector_of(&parts, loaded)
    }

    fn vector_of(&mut self, parts: &[Value], ty: Type) -> Value {
        if parts.len() == 1 {
            return parts[0];
        }
        let mut vector = self.value(Op::Splat(parts[0], parts.len() as u8), ty);
        for (number, &part) in parts.iter().enumerate().skip(1) {
            vector = self.value(Op::Insert(vector, part, number as u8), ty);
        }
        vector
    }

    /// `st`.
    pub(super) fn store(&mut self, inst: &Instruction, matched: &Matched, guard: Option<Value>) {
        let ty = matched.types[0];
        let count = vector_length(matched);
        let elements = self.elements(&inst.operands[1], count);
        let (space, base, offset) = match self.place(&inst.operands[0], accessed_space(matched)) {
            Place::Scalar(var) => {
                let value = self.read(&elements[0], ty);
                let value = self.fit(value, self.types[var as usize], is_signed(ty));
                self.pending.push((var, value));
                return self.select_pending(guard);
            }
            Place::Memory(space, base, offset) => (space, base, offset),
        };
        // Registers of the width of memory are stored as they are.
        let natural = register_type(ty);
        let element = elements
            .iter()
            .find_map(|e| self.variable_of(e))
            .map(|var| self.types[var as usize])
            .filter(|reg| reg.scalar.bits() == natural.scalar.bits())
            .unwrap_or(natural);
        let mut parts = Vec::with_capacity(count);
        for operand in &elements {
            let value = match self.variable_of(operand) {
                Some(var) => self.get(var),
                None => self.read(operand, ty),
            };
            parts.push(self.fit(value, element, false));
        }
        let stored = element.with_lanes(count as u8);
        let value = self.vector_of(&parts, stored);
        let ordering = ordering(matched);
        if guard.is_none() && ordering == Ordering::Weak {
            self.push(Op::StoreRaw(space, base, offset, value), &[]);
            return;
        }
        let access = Access { ty: stored, space, offset, ordering, guarded: guard.is_some() };
        let args = [base, value].into_iter().chain(guard).collect();
        self.effect(SimtOp::Store(access), args);
    }

    /// `cp.async`. It may be complete as soon as it begins: so groups need no waiting.
    pub(super) fn async_copy(&mut self, inst: &Instruction, matched: &Matched) {
        let size = self.read(&inst.operands[2], ScalarType::U32);
        let size = self.func.splat_constant(size).unwrap_or(16);
        let place = |this: &mut Self, operand, space| match this.place(operand, Some(space)) {
            Place::Memory(space, base, offset) => (space, base, offset),
            Place::Scalar(_) => panic!("a parameter in `.global` or `.shared`"),
        };
        let to = place(self, &inst.operands[0], StateSpace::Shared);
        let from = place(self, &inst.operands[1], StateSpace::Global);
        let words = Type::I32.with_lanes((size / 4) as u8);
        let Some(limit) = copied(inst, matched) else {
            return self.copied_at(to, from, words, 0);
        };
        let is_predicate = match &limit.kind {
            OperandKind::Not(_) => true,
            _ => self.variable_of(limit).is_some_and(|v| self.types[v as usize] == Type::I1),
        };
        if is_predicate {
            let is_ignored = self.read_predicate(limit);
            let is_read = self.not(is_ignored);
            self.conditional(is_read, |this| this.copied_at(to, from, words, 0));
            return self.conditional(is_ignored, |this| this.cleared(to, words));
        }
        let limit = self.read(limit, ScalarType::U32);
        let all = self.constant(Type::I32, size);
        let is_whole = self.icmp(IntCond::Uge, limit, all);
        let is_part = self.not(is_whole);
        self.conditional(is_whole, |this| this.copied_at(to, from, words, 0));
        self.conditional(is_part, |this| {
            this.cleared(to, words);
            for byte in 0..size {
                let number = this.constant(Type::I32, byte);
                let is_read = this.icmp(IntCond::Ugt, limit, number);
                this.conditional(is_read, |this| {
                    this.copied_at(to, from, Type::I8, byte as i64);
                });
            }
        });
    }

    fn copied_at(
        &mut self,
        to: (Space, Value, i64),
        from: (Space, Value, i64),
        ty: Type,
        offset: i64,
    ) {
        let load = Op::LoadRaw(ty, from.0, from.1, from.2.wrapping_add(offset));
        let value = self.value(load, ty);
        self.push(Op::StoreRaw(to.0, to.1, to.2.wrapping_add(offset), value), &[]);
    }

    fn cleared(&mut self, to: (Space, Value, i64), ty: Type) {
        let zero = self.constant(Type::I32, 0);
        let zeros = self.vector_of(&vec![zero; usize::from(ty.lanes)], ty);
        self.push(Op::StoreRaw(to.0, to.1, to.2, zeros), &[]);
    }

    /// `atom`, `red`.
    pub(super) fn atomic(&mut self, inst: &Instruction, matched: &Matched, guard: Option<Value>) {
        let red = matched.pattern.row.meaning == Meaning::Red;
        let op = matched
            .modifiers
            .pick(&[
                (Modifier::Exch, AtomOp::Exch),
                (Modifier::Add, AtomOp::Add),
                (Modifier::And, AtomOp::And),
                (Modifier::Or, AtomOp::Or),
                (Modifier::Xor, AtomOp::Xor),
                (Modifier::Inc, AtomOp::Inc),
                (Modifier::Dec, AtomOp::Dec),
                (Modifier::Min, AtomOp::Min),
                (Modifier::Max, AtomOp::Max),
                (Modifier::Cas, AtomOp::Cas),
            ])
            .expect("an atomic operation");
        let ty = matched.types[0];
        let ir = register_type(ty);
        let operands = &inst.operands[usize::from(!red)..];
        let space = accessed_space(matched);
        let Place::Memory(space, base, offset) = self.place(&operands[0], space) else {
            panic!("an atomic operation on a parameter")
        };
        let mut args = vec![base];
        for operand in &operands[1..] {
            args.push(self.read(operand, ty));
        }
        // Local memory is one thread's own: nothing else can come between load and store there,
        // and only generic addresses reach it.
        let space = if space == Space::Local { Space::Generic } else { space };
        if space == Space::Generic {
            args[0] = self.generic(&operands[0], args[0]);
        }
        let discarded = !red && inst.operands[0].kind == OperandKind::Sink;
        let swaps = matches!(op, AtomOp::Exch | AtomOp::Cas);
        let guarded = guard.is_some();
        let atomic = Atomic { op, ty: num_type(ty), space, offset, guarded };
        args.extend(guard);
        if red || (discarded && !swaps) {
            self.effect(SimtOp::Red(atomic), args);
            return;
        }
        if guarded {
            let old = match self.variable_of(&inst.operands[0]) {
                Some(var) => {
                    let old = self.get(var);
                    self.fit(old, ir, false)
                }
                None => self.constant(ir, 0),
            };
            args.push(old);
        }
        let value = self.simt(SimtOp::Atom(atomic), args, ir);
        if !discarded {
            self.write(&inst.operands[0], ty, value);
        }
    }

    /// The generic address of a local variable; other addresses are generic already.
    fn generic(&mut self, operand: &Operand, address: Value) -> Value {
        match operand.kind {
            OperandKind::Address(AddressBase::Variable(_), _) => {
                self.simt(SimtOp::ToGeneric(Space::Local), vec![address], Type::I64)
            }
            _ => address,
        }
    }

    /// `cvta`.
    pub(super) fn cvta(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let space = ir_space(accessed_space(matched).expect("a state space"));
        let value = self.read(&inst.operands[1], ty);
        let value = self.fit(value, Type::I64, false);
        let space = match (&inst.operands[1].kind, space) {
            (OperandKind::Variable(..), Space::Param) => self.parameter_space(),
            _ => space,
        };
        let op = match matched.pattern.row.meaning {
            Meaning::CvtaTo => SimtOp::FromGeneric(space),
            _ => SimtOp::ToGeneric(space),
        };
        let value = self.simt(op, vec![value], Type::I64);
        let value = self.fit(value, integer_of(ty), false);
        self.write(&inst.operands[0], ty, value);
    }

    pub(super) fn isspacep(&mut self, inst: &Instruction, matched: &Matched) {
        let space = ir_space(accessed_space(matched).expect("a state space"));
        let var = self.variable_of(&inst.operands[1]).expect("a register");
        let value = self.get(var);
        let address = self.fit(value, Type::I64, false);
        let value = self.simt(SimtOp::IsSpace(space), vec![address], Type::I1);
        self.write_predicate(&inst.operands[0], value);
    }
}

fn bits_type(size: u32) -> ScalarType {
    match size {
        8 => ScalarType::B8,
        16 => ScalarType::B16,
        32 => ScalarType::B32,
        _ => ScalarType::B64,
    }
}

/// The type of that size whose values are integers.
fn integer_scalar(ty: ScalarType) -> ScalarType {
    bits_type(bits(ty))
}
