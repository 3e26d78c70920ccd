//! What threads do together: shuffles, votes, barriers, fences.

use nbcc_ir::{
    Barrier, BarrierKind, BinaryOp, FloatFormat, FloatProperty, IntCond, Op, ReduxOp, Scope,
    ShflMode, SimtOp, Type, Value, VoteMode, Width,
};

use super::arith::int32;
use super::context::Lowerer;
use crate::ast::ScalarType;
use crate::check::{bits, is_signed};
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Instruction, Operand, OperandKind};

impl Lowerer<'_> {
    /// Writes a value and, where the operand is `d|p`, a predicate.
    fn write_both(&mut self, operand: &Operand, value: Value, predicate: Value) {
        match &operand.kind {
            OperandKind::Pair(pair) => {
                self.write(&pair[0], ScalarType::B32, value);
                self.write_predicate(&pair[1], predicate);
            }
            _ => self.write(operand, ScalarType::B32, value),
        }
    }

    pub(super) fn shfl(&mut self, inst: &Instruction, matched: &Matched) {
        let legacy = matched.pattern.row.meaning == Meaning::ShflLegacy;
        let mode = matched.modifiers.pick(&[
            (Modifier::Up, ShflMode::Up),
            (Modifier::Down, ShflMode::Down),
            (Modifier::Bfly, ShflMode::Bfly),
            (Modifier::Idx, ShflMode::Idx),
        ]);
        let args = inst.operands[1..].iter().map(|o| self.read(o, ScalarType::B32)).collect();
        let op = SimtOp::Shfl(mode.expect("a mode"), legacy);
        let made = self.push(Op::Simt(op, args), &[Type::I32, Type::I1]);
        let [value, valid] = self.func.insts[made].results[..] else { panic!("two results") };
        self.write_both(&inst.operands[0], value, valid);
    }

    pub(super) fn vote(&mut self, inst: &Instruction, matched: &Matched) {
        let meaning = matched.pattern.row.meaning;
        let legacy = matches!(meaning, Meaning::VoteLegacy | Meaning::BallotLegacy);
        let mode = matched.modifiers.pick(&[
            (Modifier::All, VoteMode::All),
            (Modifier::Any, VoteMode::Any),
            (Modifier::Uni, VoteMode::Uni),
            (Modifier::Ballot, VoteMode::Ballot),
        ]);
        let mode = mode.expect("a mode");
        let mut args = vec![self.read_predicate(&inst.operands[1])];
        if let Some(mask) = inst.operands.get(2) {
            args.push(self.read(mask, ScalarType::B32));
        }
        if mode == VoteMode::Ballot {
            let value = self.simt(SimtOp::Vote(mode, legacy), args, Type::I32);
            self.write(&inst.operands[0], ScalarType::B32, value);
        } else {
            let value = self.simt(SimtOp::Vote(mode, legacy), args, Type::I1);
            self.write_predicate(&inst.operands[0], value);
        }
    }

    pub(super) fn match_lanes(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let width = if bits(ty) == 64 { Width::B64 } else { Width::B32 };
        let value = self.read(&inst.operands[1], ty);
        let mask = self.read(&inst.operands[2], ScalarType::B32);
        let all = matched.modifiers.has(Modifier::All);
        let op = Op::Simt(SimtOp::Match(all, width), vec![value, mask]);
        if all {
            let made = self.push(op, &[Type::I32, Type::I1]);
            let [value, same] = self.func.insts[made].results[..] else { panic!("two results") };
            self.write_both(&inst.operands[0], value, same);
        } else {
            let value = self.value(op, Type::I32);
            self.write(&inst.operands[0], ScalarType::B32, value);
        }
    }

    pub(super) fn redux(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let op = matched.modifiers.pick(&[
            (Modifier::Add, ReduxOp::Add),
            (Modifier::Min, ReduxOp::Min),
            (Modifier::Max, ReduxOp::Max),
            (Modifier::And, ReduxOp::And),
            (Modifier::Or, ReduxOp::Or),
            (Modifier::Xor, ReduxOp::Xor),
        ]);
        let op = op.expect("an operation");
        let value = self.read(&inst.operands[1], ty);
        let mask = self.read(&inst.operands[2], ScalarType::B32);
        if ty == ScalarType::F32 {
            let value = self.redux_float(op == ReduxOp::Max, matched, value, mask);
            return self.write(&inst.operands[0], ty, value);
        }
        let op = SimtOp::Redux(op, int32(is_signed(ty)));
        let value = self.simt(op, vec![value, mask], Type::I32);
        self.write(&inst.operands[0], ty, value);
    }

    /// The greatest or least binary32, by unsigned integers that are in the same order. A NaN is
    /// beyond all numbers on the side that wins with `.NaN`, else on the side that loses.
    fn redux_float(
        &mut self,
        greatest: bool,
        matched: &Matched,
        value: Value,
        mask: Value,
    ) -> Value {
        let nan = SimtOp::Testp(FloatProperty::NotANumber, FloatFormat::F32);
        let nan = self.simt(nan, vec![value], Type::I1);
        let (top, sign) = (self.i32(0x8000_0000), self.i32(31));
        let mut bits = self.fit(value, Type::I32, false);
        if matched.modifiers.has(Modifier::Abs) {
            let rest = self.i32(0x7fff_ffff);
            bits = self.binary(BinaryOp::And, bits, rest);
        }
        let negative = self.binary(BinaryOp::Ashr, bits, sign);
        let flipped = self.binary(BinaryOp::Or, negative, top);
        let key = self.binary(BinaryOp::Xor, bits, flipped);
        let wins = matched.modifiers.has(Modifier::NaN);
        let beyond = self.i32(if greatest == wins { u32::MAX } else { 0 });
        let key = self.select(nan, beyond, key);
        let op = if greatest { ReduxOp::Max } else { ReduxOp::Min };
        let key = self.simt(SimtOp::Redux(op, int32(false)), vec![key, mask], Type::I32);
        // The top bit of a key is set where the number had no sign.
        let positive = self.binary(BinaryOp::Ashr, key, sign);
        let ones = self.i32(u32::MAX);
        let negative = self.binary(BinaryOp::Xor, positive, ones);
        let flipped = self.binary(BinaryOp::Or, negative, top);
        let bits = self.binary(BinaryOp::Xor, key, flipped);
        let none = self.icmp(IntCond::Eq, key, beyond);
        let canonical = self.i32(0x7fff_ffff);
        let bits = self.select(none, canonical, bits);
        self.fit(bits, Type::F32, false)
    }

    pub(super) fn activemask(&mut self, inst: &Instruction) {
        let value = self.simt(SimtOp::Activemask, vec![], Type::I32);
        self.write(&inst.operands[0], ScalarType::B32, value);
    }

    /// `bar`, `barrier`.
    pub(super) fn barrier(&mut self, inst: &Instruction, matched: &Matched) {
        let has = |modifier| matched.modifiers.has(modifier);
        let red = matched.pattern.row.meaning == Meaning::BarrierRed;
        let kind = if red {
            matched
                .modifiers
                .pick(&[
                    (Modifier::Popc, BarrierKind::RedPopc),
                    (Modifier::And, BarrierKind::RedAnd),
                    (Modifier::Or, BarrierKind::RedOr),
                ])
                .expect("a reduction")
        } else if has(Modifier::Arrive) {
            BarrierKind::Arrive
        } else {
            BarrierKind::Sync
        };
        let aligned = matched.pattern.opcode == "bar" || has(Modifier::Aligned);
        let (first, last) = match red {
            true => (1, inst.operands.len() - 1),
            false => (0, inst.operands.len()),
        };
        let mut args = Vec::with_capacity(3);
        for operand in &inst.operands[first..last] {
            args.push(self.read(operand, ScalarType::U32));
        }
        let counted = args.len() == 2;
        let op = SimtOp::Barrier(Barrier { kind, aligned, counted });
        if !red {
            return self.effect(op, args);
        }
        args.push(self.read_predicate(&inst.operands[last]));
        if kind == BarrierKind::RedPopc {
            let value = self.simt(op, args, Type::I32);
            self.write(&inst.operands[0], ScalarType::B32, value);
        } else {
            let value = self.simt(op, args, Type::I1);
            self.write_predicate(&inst.operands[0], value);
        }
    }

    pub(super) fn warp_barrier(&mut self, inst: &Instruction) {
        let mask = self.read(&inst.operands[0], ScalarType::B32);
        self.effect(SimtOp::WarpBarrier, vec![mask]);
    }

    /// `membar`, `fence`. A cluster is taken as the whole machine.
    pub(super) fn fence(&mut self, matched: &Matched) {
        let scope = matched.modifiers.pick(&[
            (Modifier::Cta, Scope::Cta),
            (Modifier::Gl, Scope::Gpu),
            (Modifier::Gpu, Scope::Gpu),
            (Modifier::Cluster, Scope::Gpu),
            (Modifier::Sys, Scope::Sys),
        ]);
        self.effect(SimtOp::Fence(scope.expect("a scope")), vec![]);
    }

    pub(super) fn nanosleep(&mut self, inst: &Instruction) {
        let time = self.read(&inst.operands[0], ScalarType::U32);
        self.effect(SimtOp::Nanosleep, vec![time]);
    }
}
