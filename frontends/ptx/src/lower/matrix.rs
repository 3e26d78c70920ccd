//! Matrices of 8 by 8 elements of 16 bits that a warp holds: `ldmatrix`, `stmatrix`, `movmatrix`.
//!
//! Lane `t` holds two neighbours of row `t / 4` in a register, the columns `2 * (t % 4)` and the next.
//! In memory a row is 16 bytes; lane `8 * m + r` gives the address of row `r` of matrix `m`. So each
//! lane asks another for the address of its row, and accesses its own two elements. Of a transposed
//! matrix these are the elements of one column in two rows.

use nbcc_ir::{BinaryOp, Op, ShflMode, SimtOp, Space, SpecialReg, Type, Value};

use super::context::Lowerer;
use super::memory::Place;
use crate::ast::ScalarType;
use crate::check::accessed_space;
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Instruction, Operand, OperandKind};

/// Where a lane's two elements are.
struct Lane {
    /// The row, or in a transposed matrix the column.
    quarter: Value,
    /// The first column, or in a transposed matrix the first row.
    pair: Value,
}

impl Lowerer<'_> {
    /// `ldmatrix`, `stmatrix`.
    pub(super) fn matrices(&mut self, inst: &Instruction, matched: &Matched) {
        let loads = matched.pattern.row.meaning == Meaning::MatrixLoad;
        let (registers, memory) = if loads { (0, 1) } else { (1, 0) };
        let OperandKind::Vector(registers) = &inst.operands[registers].kind else {
            panic!("a vector was checked")
        };
        let rows = self.shared_address(&inst.operands[memory], matched);
        let lane = self.lane();
        for (matrix, register) in (0..).zip(registers) {
            let first = self.i32(8 * matrix);
            let transposed = matched.modifiers.has(Modifier::Trans);
            if loads {
                let value = if transposed {
                    let halves = [0, 1].map(|half| {
                        let address = self.element_address(rows, first, &lane, half);
                        self.value(Op::LoadRaw(Type::I16, Space::Shared, address, 0), Type::I16)
                    });
                    self.join_halves(halves[0], halves[1])
                } else {
                    let address = self.word_address(rows, first, &lane);
                    self.value(Op::LoadRaw(Type::I32, Space::Shared, address, 0), Type::I32)
                };
                self.write(register, ScalarType::B32, value);
                continue;
            }
            let value = self.read(register, ScalarType::B32);
            if transposed {
                for half in [0, 1] {
                    let address = self.element_address(rows, first, &lane, half);
                    let part = self.half(value, half == 1);
                    self.push(Op::StoreRaw(Space::Shared, address, 0, part), &[]);
                }
            } else {
                let address = self.word_address(rows, first, &lane);
                self.push(Op::StoreRaw(Space::Shared, address, 0, value), &[]);
            }
        }
    }

    /// `movmatrix`: the transposed matrix, each element from the lane that holds it.
    pub(super) fn transpose(&mut self, inst: &Instruction) {
        let value = self.read(&inst.operands[1], ScalarType::B32);
        let lane = self.lane();
        let (one, four) = (self.i32(1), self.i32(4));
        let column = self.binary(BinaryOp::Lshr, lane.quarter, one);
        let odd = self.binary(BinaryOp::And, lane.quarter, one);
        let sixteen = self.i32(16);
        let by = self.binary(BinaryOp::Imul, odd, sixteen);
        let row = self.binary(BinaryOp::Imul, lane.pair, four);
        let low = self.binary(BinaryOp::Iadd, row, column);
        let high = self.binary(BinaryOp::Iadd, low, four);
        let halves = [low, high].map(|from| {
            let word = self.held_by(value, from);
            let shifted = self.binary(BinaryOp::Lshr, word, by);
            self.half(shifted, false)
        });
        let value = self.join_halves(halves[0], halves[1]);
        self.write(&inst.operands[0], ScalarType::B32, value);
    }

    fn lane(&mut self) -> Lane {
        let lane = self.simt(SimtOp::Special(SpecialReg::Laneid), vec![], Type::I32);
        let (one, two, three) = (self.i32(1), self.i32(2), self.i32(3));
        let quarter = self.binary(BinaryOp::Lshr, lane, two);
        let rest = self.binary(BinaryOp::And, lane, three);
        let pair = self.binary(BinaryOp::Shl, rest, one);
        Lane { quarter, pair }
    }

    /// The address that a lane gives, in shared memory.
    fn shared_address(&mut self, operand: &Operand, matched: &Matched) -> Value {
        let Place::Memory(space, base, offset) = self.place(operand, accessed_space(matched))
        else {
            panic!("a parameter in `.shared`")
        };
        let offset = self.constant(Type::I64, offset as u64);
        let mut address = self.binary(BinaryOp::Iadd, base, offset);
        if space == Space::Generic {
            address = self.simt(SimtOp::FromGeneric(Space::Shared), vec![address], Type::I64);
        }
        self.fit(address, Type::I32, false)
    }

    /// What another lane holds.
    fn held_by(&mut self, value: Value, lane: Value) -> Value {
        let (within, all) = (self.i32(31), self.i32(u32::MAX));
        let op = SimtOp::Shfl(ShflMode::Idx, false);
        let made = self.push(Op::Simt(op, vec![value, lane, within, all]), &[Type::I32, Type::I1]);
        self.func.insts[made].results[0]
    }

    /// The address of the lane's two elements.
    fn word_address(&mut self, rows: Value, first: Value, lane: &Lane) -> Value {
        let from = self.binary(BinaryOp::Iadd, first, lane.quarter);
        self.behind(rows, from, lane.pair)
    }

    /// The address of one of the lane's two elements in a transposed matrix.
    fn element_address(&mut self, rows: Value, first: Value, lane: &Lane, half: u32) -> Value {
        let half = self.i32(half);
        let row = self.binary(BinaryOp::Iadd, lane.pair, half);
        let from = self.binary(BinaryOp::Iadd, first, row);
        self.behind(rows, from, lane.quarter)
    }

    /// The address of an element of the row whose address another lane gives.
    fn behind(&mut self, rows: Value, lane: Value, column: Value) -> Value {
        let row = self.held_by(rows, lane);
        let one = self.i32(1);
        let bytes = self.binary(BinaryOp::Shl, column, one);
        let address = self.binary(BinaryOp::Iadd, row, bytes);
        self.fit(address, Type::I64, false)
    }
}
