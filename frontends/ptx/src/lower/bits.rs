//! Shifts and operations on bits and bytes.

use nbcc_ir::{BinaryOp, Direction, EdgeMode, IntCond, PrmtMode, SimtOp, Type, Value, Width};

use super::context::Lowerer;
use super::types::{int_type, register_type};
use crate::ast::ScalarType;
use crate::check::{bits, is_signed};
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Constant, Instruction, OperandKind};

fn width(ty: ScalarType) -> Width {
    if bits(ty) == 64 { Width::B64 } else { Width::B32 }
}

fn edge(matched: &Matched) -> EdgeMode {
    if matched.modifiers.has(Modifier::Wrap) { EdgeMode::Wrap } else { EdgeMode::Clamp }
}

impl Lowerer<'_> {
    /// `shl`, `shr`: an amount of the width or more shifts everything out.
    pub(super) fn shift(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let ir = register_type(ty);
        let a = self.read(&inst.operands[1], ty);
        let mut amount = self.read(&inst.operands[2], ScalarType::U32);
        if bits(ty) == 16 {
            let most = self.i32(16);
            amount = self.binary(BinaryOp::Umin, amount, most);
        }
        let amount = self.fit(amount, ir, false);
        let op = match matched.pattern.row.meaning {
            Meaning::Shl => BinaryOp::Shl,
            _ if is_signed(ty) => BinaryOp::Ashr,
            _ => BinaryOp::Lshr,
        };
        let value = self.binary(op, a, amount);
        self.write(&inst.operands[0], ty, value);
    }

    /// Operations with one result of which the operands are as the form says.
    pub(super) fn bit_operation(&mut self, inst: &Instruction, matched: &Matched) {
        use Meaning::*;
        let ty = matched.types[0];
        let op = match matched.pattern.row.meaning {
            Shf => {
                let left = matched.modifiers.has(Modifier::L);
                let direction = if left { Direction::Left } else { Direction::Right };
                SimtOp::Shf(direction, edge(matched))
            }
            Bfe => SimtOp::Bfe(int_type(ty)),
            Bfi => SimtOp::Bfi(width(ty)),
            Bfind => SimtOp::Bfind(int_type(ty), matched.modifiers.has(Modifier::Shiftamt)),
            Clz => SimtOp::Clz(width(ty)),
            Popc => SimtOp::Popc(width(ty)),
            Brev => SimtOp::Brev(width(ty)),
            Prmt => SimtOp::Prmt(
                matched
                    .modifiers
                    .pick(&[
                        (Modifier::F4e, PrmtMode::F4e),
                        (Modifier::B4e, PrmtMode::B4e),
                        (Modifier::Rc8, PrmtMode::Rc8),
                        (Modifier::Ecl, PrmtMode::Ecl),
                        (Modifier::Ecr, PrmtMode::Ecr),
                        (Modifier::Rc16, PrmtMode::Rc16),
                    ])
                    .unwrap_or(PrmtMode::Index),
            ),
            Bmsk => SimtOp::Bmsk(edge(matched)),
            Szext => SimtOp::Szext(is_signed(ty), edge(matched)),
            Fns => SimtOp::Fns,
            other => panic!("{other:?} is no bit operation"),
        };
        let mut args = Vec::with_capacity(4);
        for (number, operand) in inst.operands.iter().enumerate().skip(1) {
            args.push(self.read(operand, self.operand_type(matched, number)));
        }
        let to = self.operand_type(matched, 0);
        let value = self.simt(op, args, register_type(to));
        self.write(&inst.operands[0], to, value);
    }

    /// `lop3`, perhaps with the test of its result.
    pub(super) fn lop3(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = ScalarType::B32;
        let args: Vec<Value> = inst.operands[1..4].iter().map(|o| self.read(o, ty)).collect();
        let OperandKind::Constant(Constant::Int { bits, .. }) = inst.operands[4].kind else {
            panic!("the truth table of lop3 is not known")
        };
        let value = self.simt(SimtOp::Lop3(bits as u8), args, Type::I32);
        let OperandKind::Pair(pair) = &inst.operands[0].kind else {
            return self.write(&inst.operands[0], ty, value);
        };
        let zero = self.i32(0);
        let some = self.icmp(IntCond::Ne, value, zero);
        let other = self.read_predicate(&inst.operands[5]);
        let and = matched.modifiers.has(Modifier::And);
        let op = if and { BinaryOp::And } else { BinaryOp::Or };
        let test = self.binary(op, some, other);
        self.write(&pair[0], ty, value);
        self.write_predicate(&pair[1], test);
    }
}
