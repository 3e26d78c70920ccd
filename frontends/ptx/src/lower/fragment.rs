//! `wmma.load` and `wmma.store`: each lane accesses the elements of a matrix in memory that its registers
//! hold ([`crate::forms::Product`] says which these are).

use nbcc_ir::{BinaryOp, Op, SimtOp, Space, SpecialReg, Type, Value};

use super::context::Lowerer;
use super::memory::Place;
use crate::ast::ScalarType;
use crate::check::{accessed_space, named_role};
use crate::forms::{Element, Matched, Modifier, Product, Role};
use crate::resolved::{Instruction, Operand, OperandKind};

/// A matrix in memory, as a lane sees it.
struct Stored {
    space: Space,
    /// The address of the lane's first element.
    first: Value,
    offset: i64,
    /// Bytes from one row to the next, or where columns are contiguous from one column to the next.
    pitch: Value,
    /// Whether rows are contiguous.
    by_rows: bool,
    /// Bits of an element.
    bits: u32,
}

impl Lowerer<'_> {
    /// `wmma.load`.
    pub(super) fn load_fragment(&mut self, inst: &Instruction, matched: &Matched) {
        let (product, role) = (self.plan.module.product(inst), named_role(matched));
        let stored = self.stored(inst, matched, &product, role, 1);
        let held = product.held(role) as usize;
        let values: Vec<Value> = (0..held as u32)
            .map(|number| self.load_register(&stored, &product, role, number))
            .collect();
        let OperandKind::Vector(registers) = &inst.operands[0].kind else {
            panic!("a vector was checked")
        };
        for (number, register) in registers.iter().enumerate() {
            self.write(register, product.register_type(role), values[number % held]);
        }
    }

    /// `wmma.store`.
    pub(super) fn store_fragment(&mut self, inst: &Instruction, matched: &Matched) {
        let product = self.plan.module.product(inst);
        let stored = self.stored(inst, matched, &product, Role::D, 0);
        let registers = self.fragment(&inst.operands[1], &product, Role::D);
        for (number, &register) in (0..).zip(&registers) {
            let places = places(&product, Role::D, number);
            if is_one_access(&stored, Role::D, &places) {
                let (address, offset) = self.address_in(&stored, places[0]);
                self.push(Op::StoreRaw(stored.space, address, offset, register), &[]);
                continue;
            }
            let part = part_type(stored.bits);
            for (half, &place) in places.iter().enumerate() {
                let value = self.part(register, half, part);
                let (address, offset) = self.address_in(&stored, place);
                self.push(Op::StoreRaw(stored.space, address, offset, value), &[]);
            }
        }
    }

    fn load_register(
        &mut self,
        stored: &Stored,
        product: &Product,
        role: Role,
        number: u32,
    ) -> Value {
        let places = places(product, role, number);
        let load = |this: &mut Self, place, ty| {
            let (address, offset) = this.address_in(stored, place);
            this.value(Op::LoadRaw(ty, stored.space, address, offset), ty)
        };
        if is_one_access(stored, role, &places) {
            return load(self, places[0], word_type(product.element(role)));
        }
        let part = part_type(stored.bits);
        let parts: Vec<Value> = places.iter().map(|&place| load(self, place, part)).collect();
        self.join(&parts, Type::I32)
    }

    /// The matrix that operand `memory` points to.
    fn stored(
        &mut self,
        inst: &Instruction,
        matched: &Matched,
        product: &Product,
        role: Role,
        memory: usize,
    ) -> Stored {
        let Place::Memory(space, base, offset) =
            self.place(&inst.operands[memory], accessed_space(matched))
        else {
            panic!("a parameter in memory of the device")
        };
        let by_rows = matched.modifiers.has(Modifier::Row);
        let bits = product.element(role).bits();
        let (rows, columns) = match role {
            Role::A => (product.m, product.k),
            Role::B => (product.k, product.n),
            Role::C | Role::D => (product.m, product.n),
        };
        let pitch = self.pitch(inst.operands.get(2), if by_rows { columns } else { rows }, bits);
        let lane = self.simt(SimtOp::Special(SpecialReg::Laneid), vec![], Type::I32);
        let (two, three) = (self.i32(2), self.i32(3));
        let block = self.binary(BinaryOp::Lshr, lane, two);
        let quarter = self.binary(BinaryOp::And, lane, three);
        // How many elements the lanes of four are apart.
        let apart = match role {
            Role::A | Role::B => product.element(role).each(),
            Role::C | Role::D => 2,
        };
        // Lanes of four go along the rows of A and of accumulators, and down the columns of B.
        let goes_along_pitch = by_rows == (role == Role::B);
        let (long, short) = if goes_along_pitch { (quarter, block) } else { (block, quarter) };
        let (long_step, short_step) = if goes_along_pitch { (apart, 1) } else { (1, apart) };
        let long = self.fit(long, Type::I64, false);
        let long_step = self.constant(Type::I64, u64::from(long_step));
        let long = self.binary(BinaryOp::Imul, long, long_step);
        let long = self.binary(BinaryOp::Imul, long, pitch);
        let short_step = self.i32(short_step * bits / 8);
        let short = self.binary(BinaryOp::Imul, short, short_step);
        let short = self.fit(short, Type::I64, false);
        let within = self.binary(BinaryOp::Iadd, long, short);
        let first = self.binary(BinaryOp::Iadd, base, within);
        Stored { space, first, offset, pitch, by_rows, bits }
    }

    /// Bytes from one line to the next: the operand counts elements.
    fn pitch(&mut self, operand: Option<&Operand>, least: u32, bits: u32) -> Value {
        let Some(operand) = operand else {
            return self.constant(Type::I64, u64::from(least * bits / 8));
        };
        let elements = self.read(operand, ScalarType::U32);
        let elements = self.fit(elements, Type::I64, false);
        let bits = self.constant(Type::I64, u64::from(bits));
        let three = self.constant(Type::I64, 3);
        let bits = self.binary(BinaryOp::Imul, elements, bits);
        self.binary(BinaryOp::Lshr, bits, three)
    }

    /// The address of the element that is so many rows and columns beyond the lane's first.
    fn address_in(&mut self, stored: &Stored, (row, column): (u32, u32)) -> (Value, i64) {
        let (line, within) = if stored.by_rows { (row, column) } else { (column, row) };
        let offset = stored.offset.wrapping_add(i64::from(within * stored.bits / 8));
        if line == 0 {
            return (stored.first, offset);
        }
        let line = self.constant(Type::I64, u64::from(line));
        let beyond = self.binary(BinaryOp::Imul, stored.pitch, line);
        (self.binary(BinaryOp::Iadd, stored.first, beyond), offset)
    }
}

/// Where the elements of a lane's register are, in rows and columns from the first that the lane holds.
fn places(product: &Product, role: Role, number: u32) -> Vec<(u32, u32)> {
    let each = product.element(role).each();
    match role {
        Role::A => {
            let (step, block) = (number / product.row_blocks(), number % product.row_blocks());
            (0..each).map(|element| (8 * block, 4 * each * step + element)).collect()
        }
        Role::B => {
            let (block, step) = (number / product.steps(), number % product.steps());
            (0..each).map(|element| (4 * each * step + element, 8 * block)).collect()
        }
        Role::C | Role::D => {
            let element = |number: u32| {
                let (pair, odd) = (number / 2, number % 2);
                let (columns, rows) = (pair / product.row_blocks(), pair % product.row_blocks());
                (8 * rows, 8 * columns + odd)
            };
            (each * number..each * (number + 1)).map(element).collect()
        }
    }
}

/// Whether the elements of a register are neighbours in memory.
fn is_one_access(stored: &Stored, role: Role, places: &[(u32, u32)]) -> bool {
    places.len() == 1 || stored.by_rows == (role != Role::B)
}

fn part_type(bits: u32) -> Type {
    if bits == 8 { Type::I8 } else { Type::I16 }
}

fn word_type(element: Element) -> Type {
    match element {
        Element::F64 => Type::F64,
        Element::F32 => Type::F32,
        _ => Type::I32,
    }
}
