//! `mma` and `wmma.mma`: products of matrices that a warp holds.
//!
//! Each lane computes the elements of D that it holds. Along K it asks the four lanes that hold its rows
//! of A, and the four that hold each of its columns of B, for one register after the other, and adds the
//! products of their elements in the order of K: in binary32 or binary64 each with one rounding, in
//! integers exactly ([`crate::forms::Product`] says which lane holds what).

use nbcc_ir::{
    BinaryOp, Conversion, ConvertRounding, FloatArith, FloatFormat, FloatOp, NumType, Op, Rounding,
    ShflMode, SimtOp, SpecialReg, Type, Value, Width,
};

use super::context::Lowerer;
use crate::forms::{Element, Matched, Modifier, Product, Role};
use crate::resolved::{Instruction, Operand, OperandKind};

/// Where a shuffle takes a register from.
#[derive(Clone, Copy)]
struct Source {
    lane: Value,
    /// The last lane and, above it, the mask of the segment.
    within: Value,
}

/// How products are added.
#[derive(Clone, Copy)]
enum Sum {
    Float(FloatArith),
    /// Bytes, and whether those of A and B are signed.
    Bytes(bool, bool),
    /// Set bits of this function of two registers.
    Bits(BinaryOp),
}

impl Lowerer<'_> {
    /// `mma`, `wmma.mma`.
    pub(super) fn product(&mut self, inst: &Instruction, matched: &Matched) {
        let product = self.plan.module.product(inst);
        let [d, a, b, c] = &inst.operands[..] else { panic!("four operands were checked") };
        let factors = [(a, Role::A), (b, Role::B)].map(|(operand, role)| {
            let held = product.held(role) as usize;
            let registers = self.fragment(operand, &product, role);
            registers[..held]
                .iter()
                .map(|&register| self.factor(register, product.element(role)))
                .collect()
        });
        let accumulators = self.accumulators(c, &product);
        let sum = sum(&product, matched);
        let sums = match sum {
            Sum::Float(_) => self.sums(&product, sum, &factors, accumulators),
            _ => self.integer_sums(&product, sum, &factors, accumulators, matched),
        };
        self.write_accumulators(d, &product, &sums);
    }

    /// The registers of a fragment.
    pub(super) fn fragment(
        &mut self,
        operand: &Operand,
        product: &Product,
        role: Role,
    ) -> Vec<Value> {
        let OperandKind::Vector(registers) = &operand.kind else { panic!("a vector was checked") };
        let ty = product.register_type(role);
        registers.iter().map(|register| self.read(register, ty)).collect()
    }

    /// The elements of C, as they are added up.
    fn accumulators(&mut self, operand: &Operand, product: &Product) -> Vec<Value> {
        let registers = self.fragment(operand, product, Role::C);
        if product.element(Role::C) != Element::F16 {
            return registers;
        }
        let halves = registers.iter().flat_map(|&register| [(register, false), (register, true)]);
        halves.map(|(register, high)| self.widened_half(register, high)).collect()
    }

    /// Writes the elements of D.
    fn write_accumulators(&mut self, operand: &Operand, product: &Product, sums: &[Value]) {
        let OperandKind::Vector(registers) = &operand.kind else { panic!("a vector was checked") };
        let ty = product.register_type(Role::D);
        if product.element(Role::D) != Element::F16 {
            for (register, &value) in registers.iter().zip(sums) {
                self.write(register, ty, value);
            }
            return;
        }
        let conversion = conversion(FloatFormat::F16x2, FloatFormat::F32, ConvertRounding::Rn);
        for (register, pair) in registers.iter().zip(sums.chunks(2)) {
            let op = SimtOp::Convert(conversion);
            let value = self.simt(op, vec![pair[1], pair[0]], Type::I32);
            self.write(register, ty, value);
        }
    }

    /// One register of A or B as what lanes ask each other for, in the order of K.
    fn factor(&mut self, register: Value, element: Element) -> Vec<Value> {
        match element {
            Element::F16 => [false, true].map(|high| self.widened_half(register, high)).to_vec(),
            Element::Bf16 => {
                let (sixteen, mask) = (self.i32(16), self.i32(0xffff_0000));
                let low = self.binary(BinaryOp::Shl, register, sixteen);
                let high = self.binary(BinaryOp::And, register, mask);
                [low, high].map(|bits| self.fit(bits, Type::F32, false)).to_vec()
            }
            Element::Tf32 => {
                let mask = self.i32(0xffff_e000);
                let bits = self.binary(BinaryOp::And, register, mask);
                vec![self.fit(bits, Type::F32, false)]
            }
            Element::S4 | Element::U4 => {
                let (four, mask) = (self.i32(4), self.i32(0xf0f0_f0f0));
                let low = self.binary(BinaryOp::Shl, register, four);
                [low, register].map(|bytes| self.binary(BinaryOp::And, bytes, mask)).to_vec()
            }
            _ => vec![register],
        }
    }

    /// Half of a register as the binary32 of the binary16 that it holds.
    fn widened_half(&mut self, register: Value, high: bool) -> Value {
        let half = self.half(register, high);
        let conversion = conversion(FloatFormat::F32, FloatFormat::F16, ConvertRounding::Exact);
        self.simt(SimtOp::Convert(conversion), vec![half], Type::F32)
    }

    /// Adds all products to the accumulators.
    fn sums(
        &mut self,
        product: &Product,
        sum: Sum,
        [a, b]: &[Vec<Vec<Value>>; 2],
        mut sums: Vec<Value>,
    ) -> Vec<Value> {
        let (rows, columns, steps) =
            (product.row_blocks(), product.column_blocks(), product.steps());
        let lane = self.simt(SimtOp::Special(SpecialReg::Laneid), vec![], Type::I32);
        let (three, eight) = (self.i32(3), self.i32(8));
        let quarter = self.binary(BinaryOp::And, lane, three);
        let first_column = self.binary(BinaryOp::Imul, quarter, eight);
        // Segments of four lanes; one of all.
        let (within_four, within_all) = (self.i32(0x1c1f), self.i32(0x1f));
        for step in 0..steps {
            for holder in 0..4 {
                let row = Source { lane: self.i32(holder), within: within_four };
                let left: Vec<Vec<Value>> = (0..rows)
                    .map(|block| self.held_there(&a[(step * rows + block) as usize], row))
                    .collect();
                for block in 0..columns {
                    let register = &b[(block * steps + step) as usize];
                    for odd in 0..2 {
                        let beyond = self.i32(4 * odd + holder);
                        let lane = self.binary(BinaryOp::Iadd, first_column, beyond);
                        let right = self.held_there(register, Source { lane, within: within_all });
                        for (row, left) in (0..).zip(&left) {
                            let place = (2 * (block * rows + row) + odd) as usize;
                            for (&x, &y) in left.iter().zip(&right) {
                                sums[place] = self.add_product(sum, x, y, sums[place]);
                            }
                        }
                    }
                }
            }
        }
        sums
    }

    /// Sums of integers: exact, wrapped or clamped where C is added.
    fn integer_sums(
        &mut self,
        product: &Product,
        sum: Sum,
        factors: &[Vec<Vec<Value>>; 2],
        accumulators: Vec<Value>,
        matched: &Matched,
    ) -> Vec<Value> {
        let nibbles = product.element(Role::A).bits() == 4;
        let clamps = matched.modifiers.has(Modifier::Satfinite);
        if !(nibbles || clamps) {
            return self.sums(product, sum, factors, accumulators);
        }
        let zero = self.i32(0);
        let sums = self.sums(product, sum, factors, vec![zero; accumulators.len()]);
        let add = |this: &mut Self, (value, c): (Value, Value)| {
            let mut value = value;
            if nibbles {
                // Both factors stood in the upper half of bytes.
                let eight = this.i32(8);
                value = this.binary(BinaryOp::Ashr, value, eight);
            }
            match clamps {
                true => this.simt(SimtOp::AddSat, vec![value, c], Type::I32),
                false => this.binary(BinaryOp::Iadd, value, c),
            }
        };
        sums.into_iter().zip(accumulators).map(|pair| add(self, pair)).collect()
    }

    fn add_product(&mut self, sum: Sum, x: Value, y: Value, before: Value) -> Value {
        match sum {
            Sum::Float(arith) => {
                let ty = self.func.ty(before);
                self.simt(SimtOp::Float(arith), vec![x, y, before], ty)
            }
            Sum::Bytes(a, b) => self.simt(SimtOp::Dp4a(a, b), vec![x, y, before], Type::I32),
            Sum::Bits(op) => {
                let both = self.binary(op, x, y);
                let count = self.simt(SimtOp::Popc(Width::B32), vec![both], Type::I32);
                self.binary(BinaryOp::Iadd, before, count)
            }
        }
    }

    /// What another lane holds.
    fn held_there(&mut self, values: &[Value], source: Source) -> Vec<Value> {
        values.iter().map(|&value| self.shuffled(value, source)).collect()
    }

    fn shuffled(&mut self, value: Value, source: Source) -> Value {
        let ty = self.func.ty(value);
        if ty.scalar.bits() == 64 {
            let whole = self.fit(value, Type::I64, false);
            let parts = [0, 1].map(|number| {
                let part = self.part(whole, number, Type::I32);
                self.shuffled(part, source)
            });
            let whole = self.join(&parts, Type::I64);
            return self.fit(whole, ty, false);
        }
        let value = self.fit(value, Type::I32, false);
        let all = self.i32(u32::MAX);
        let op = SimtOp::Shfl(ShflMode::Idx, false);
        let args = vec![value, source.lane, source.within, all];
        let made = self.push(Op::Simt(op, args), &[Type::I32, Type::I1]);
        let value = self.func.insts[made].results[0];
        self.fit(value, ty, false)
    }
}

fn conversion(dst: FloatFormat, src: FloatFormat, rounding: ConvertRounding) -> Conversion {
    let (ftz, sat, relu) = (false, false, false);
    Conversion { dst: NumType::Float(dst), src: NumType::Float(src), rounding, ftz, sat, relu }
}

fn sum(product: &Product, matched: &Matched) -> Sum {
    let (a, b) = (product.element(Role::A), product.element(Role::B));
    match a {
        Element::B1 if matched.modifiers.has(Modifier::And) => Sum::Bits(BinaryOp::And),
        Element::B1 => Sum::Bits(BinaryOp::Xor),
        Element::S8 | Element::U8 | Element::S4 | Element::U4 => {
            Sum::Bytes(a.is_signed(), b.is_signed())
        }
        _ => {
            let format = if a == Element::F64 { FloatFormat::F64 } else { FloatFormat::F32 };
            let rounding = matched.modifiers.pick(&[
                (Modifier::Rz, Rounding::Rz),
                (Modifier::Rm, Rounding::Rm),
                (Modifier::Rp, Rounding::Rp),
            ]);
            let mut arith = FloatArith::new(FloatOp::Fma, format);
            arith.rounding = rounding.unwrap_or(Rounding::Rn);
            Sum::Float(arith)
        }
    }
}
