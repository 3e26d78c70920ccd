//! The video instructions. Those on scalars are computed in 64 bits, where nothing they do
//! overflows, those on 2 or 4 integers are operations of their own.

use nbcc_ir::{BinaryOp, PrmtMode, Simd, SimdOp, SimtOp, Type, Value};

use super::arith::int_condition;
use super::context::Lowerer;
use crate::ast::ScalarType;
use crate::check::is_signed;
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Instruction, Operand, OperandKind};

fn type32(signed: bool) -> ScalarType {
    if signed { ScalarType::S32 } else { ScalarType::U32 }
}

impl Lowerer<'_> {
    /// What a selector names: the number of its digits, their values, bits of each.
    fn selector(&self, operand: &Operand) -> Option<(Vec<u32>, u32)> {
        let OperandKind::Selected(_, name) = operand.kind else { return None };
        let text = self.plan.module.names.text(name).as_bytes();
        let size = if text[0] == b'h' { 16 } else { 8 };
        Some((text[1..].iter().map(|digit| u32::from(digit - b'0')).collect(), size))
    }

    /// A source in 64 bits, by the sign of its type.
    fn wide_source(&mut self, inst: &Instruction, number: usize, signed: bool) -> Value {
        let (operand, negated) = match &inst.operands[number].kind {
            OperandKind::Negated(inner) => (&**inner, true),
            _ => (&inst.operands[number], false),
        };
        let mut value = match self.variable_of(operand) {
            Some(var) => {
                let value = self.get(var);
                self.fit(value, Type::I32, false)
            }
            None => self.read(operand, type32(signed)),
        };
        if let Some((digits, size)) = self.selector(operand) {
            let up = self.i32(32 - size * (digits[0] + 1));
            let down = self.i32(32 - size);
            value = self.binary(BinaryOp::Shl, value, up);
            let op = if signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
            value = self.binary(op, value, down);
        }
        let value = self.fit(value, Type::I64, signed);
        if !negated {
            return value;
        }
        let zero = self.constant(Type::I64, 0);
        self.binary(BinaryOp::Isub, zero, value)
    }

    /// The result in place of the selected bits of the third source, or by the second operation.
    fn finish(&mut self, inst: &Instruction, matched: &Matched, value: Value) {
        let value = match self.selector(&inst.operands[0]) {
            None => self.secondary(inst, matched, value),
            Some((digits, size)) => {
                let at = size * digits[0];
                let bits = ((1u32 << size) - 1) << at;
                let c = self.read(&inst.operands[3], ScalarType::B32);
                let (at, bits, others) = (self.i32(at), self.i32(bits), self.i32(!bits));
                let kept = self.binary(BinaryOp::And, c, others);
                let moved = self.binary(BinaryOp::Shl, value, at);
                let new = self.binary(BinaryOp::And, moved, bits);
                self.binary(BinaryOp::Or, kept, new)
            }
        };
        self.write(&inst.operands[0], ScalarType::B32, value);
    }

    /// Clamps 64 bits (signed) to the range of so many bits.
    fn clamp_bits(&mut self, value: Value, signed: bool, bits: u32) -> Value {
        let (least, greatest) = match signed {
            true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            false => (0, (1i64 << bits) - 1),
        };
        let (least, greatest) =
            (self.constant(Type::I64, least as u64), self.constant(Type::I64, greatest as u64));
        let value = self.binary(BinaryOp::Smax, value, least);
        self.binary(BinaryOp::Smin, value, greatest)
    }

    /// The second operation, on the result and the third source.
    fn secondary(&mut self, inst: &Instruction, matched: &Matched, value: Value) -> Value {
        let signed = is_signed(matched.types[0]);
        let Some(c) = inst.operands.get(3) else { return value };
        let c = self.read(c, type32(signed));
        if matched.modifiers.has(Modifier::Min) {
            self.extremum(true, signed, value, c)
        } else if matched.modifiers.has(Modifier::Max) {
            self.extremum(false, signed, value, c)
        } else {
            self.binary(BinaryOp::Iadd, value, c)
        }
    }

    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`.
    pub(super) fn video(&mut self, inst: &Instruction, matched: &Matched) {
        let [to, ta, tb] = matched.types;
        let a = self.wide_source(inst, 1, is_signed(ta));
        let b = self.wide_source(inst, 2, is_signed(tb));
        let amount = |this: &mut Self| {
            let n = if matched.modifiers.has(Modifier::Wrap) { 31 } else { 32 };
            let most = this.constant(Type::I64, n);
            let op = if n == 31 { BinaryOp::And } else { BinaryOp::Umin };
            this.binary(op, b, most)
        };
        let mut value = match matched.pattern.opcode {
            "vadd" => self.binary(BinaryOp::Iadd, a, b),
            "vsub" => self.binary(BinaryOp::Isub, a, b),
            "vmin" => self.binary(BinaryOp::Smin, a, b),
            "vmax" => self.binary(BinaryOp::Smax, a, b),
            "vabsdiff" => {
                let (up, down) =
                    (self.binary(BinaryOp::Isub, b, a), self.binary(BinaryOp::Isub, a, b));
                self.binary(BinaryOp::Smax, up, down)
            }
            "vshl" => {
                let amount = amount(self);
                self.binary(BinaryOp::Shl, a, amount)
            }
            _ => {
                let amount = amount(self);
                self.binary(BinaryOp::Ashr, a, amount)
            }
        };
        if matched.modifiers.has(Modifier::Sat) {
            let size = self.selector(&inst.operands[0]).map_or(32, |(_, size)| size);
            value = self.clamp_bits(value, is_signed(to), size);
        }
        let value = self.fit(value, Type::I32, false);
        self.finish(inst, matched, value);
    }

    /// `vmad`: product and sum in 64 bits, shifted, clamped.
    pub(super) fn vmad(&mut self, inst: &Instruction, matched: &Matched) {
        let [to, ta, tb] = matched.types;
        let negated = inst.operands[1..].iter().any(|o| matches!(o.kind, OperandKind::Negated(_)));
        let signed = is_signed(ta) || is_signed(tb) || negated;
        let a = self.wide_source(inst, 1, is_signed(ta));
        let b = self.wide_source(inst, 2, is_signed(tb));
        let c = self.wide_source(inst, 3, signed);
        let product = self.binary(BinaryOp::Imul, a, b);
        let mut value = self.binary(BinaryOp::Iadd, product, c);
        if matched.modifiers.has(Modifier::Po) {
            let one = self.constant(Type::I64, 1);
            value = self.binary(BinaryOp::Iadd, value, one);
        }
        let shift = matched.modifiers.pick(&[(Modifier::Shr7, 7), (Modifier::Shr15, 15)]);
        if let Some(shift) = shift {
            let shift = self.constant(Type::I64, shift);
            let op = if signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
            value = self.binary(op, value, shift);
        }
        if matched.modifiers.has(Modifier::Sat) {
            value = if signed {
                self.clamp_bits(value, is_signed(to), 32)
            } else {
                let most = if is_signed(to) { i32::MAX as u64 } else { u64::from(u32::MAX) };
                let most = self.constant(Type::I64, most);
                self.binary(BinaryOp::Umin, value, most)
            };
        }
        let value = self.fit(value, Type::I32, false);
        self.write(&inst.operands[0], ScalarType::B32, value);
    }

    /// `vset`: one or zero.
    pub(super) fn vset(&mut self, inst: &Instruction, matched: &Matched) {
        let [ta, tb, _] = matched.types;
        let a = self.wide_source(inst, 1, is_signed(ta));
        let b = self.wide_source(inst, 2, is_signed(tb));
        let holds = self.icmp(int_condition(matched, true), a, b);
        let value = self.fit(holds, Type::I32, false);
        let unsigned = Matched { types: [ScalarType::U32; 3], ..*matched };
        self.finish(inst, &unsigned, value);
    }

    /// Operations on 2 or 4 integers.
    pub(super) fn simd(&mut self, inst: &Instruction, matched: &Matched) {
        let opcode = matched.pattern.opcode;
        let lanes: u8 = if opcode.ends_with('2') { 2 } else { 4 };
        let sets = opcode.starts_with("vset");
        let op = match &opcode[..opcode.len() - 1] {
            "vadd" => SimdOp::Add,
            "vsub" => SimdOp::Sub,
            "vavrg" => SimdOp::Avrg,
            "vabsdiff" => SimdOp::Absdiff,
            "vmin" => SimdOp::Min,
            "vmax" => SimdOp::Max,
            _ => matched
                .modifiers
                .pick(&[
                    (Modifier::Eq, SimdOp::SetEq),
                    (Modifier::Ne, SimdOp::SetNe),
                    (Modifier::Lt, SimdOp::SetLt),
                    (Modifier::Le, SimdOp::SetLe),
                    (Modifier::Gt, SimdOp::SetGt),
                    (Modifier::Ge, SimdOp::SetGe),
                ])
                .expect("a comparison"),
        };
        let [first, second, third] = matched.types.map(is_signed);
        let (dst_signed, a_signed, b_signed) =
            if sets { (false, first, second) } else { (first, second, third) };
        let mask = match self.selector(&inst.operands[0]) {
            Some((digits, _)) => digits.iter().fold(0, |mask, digit| mask | (1 << digit)),
            None => (1 << lanes) - 1,
        };
        let simd = Simd {
            op,
            lanes,
            dst_signed,
            a_signed,
            b_signed,
            sat: matched.modifiers.has(Modifier::Sat),
            add: matched.modifiers.has(Modifier::Add),
            mask,
        };
        debug_assert!(matched.pattern.row.meaning == Meaning::Simd);
        let whole = |this: &mut Self, n: usize| {
            let var = this.variable_of(&inst.operands[n]).expect("a register");
            let value = this.get(var);
            this.fit(value, Type::I32, false)
        };
        let (a, b, c) = (whole(self, 1), whole(self, 2), whole(self, 3));
        // Selected sources are picked from the bytes of both.
        let pick = |this: &mut Self, n: usize, plain: Value| {
            let Some((digits, size)) = this.selector(&inst.operands[n]) else { return plain };
            let mut selector = 0;
            for digit in digits {
                selector = match size {
                    16 => (selector << 8) | ((2 * digit + 1) << 4) | (2 * digit),
                    _ => (selector << 4) | digit,
                };
            }
            let selector = this.i32(selector);
            this.simt(SimtOp::Prmt(PrmtMode::Index), vec![a, b, selector], Type::I32)
        };
        let args = vec![pick(self, 1, a), pick(self, 2, b), c];
        let value = self.simt(SimtOp::Simd(simd), args, Type::I32);
        self.write(&inst.operands[0], ScalarType::B32, value);
    }
}
