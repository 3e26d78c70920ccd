//! Integer arithmetic, logic, comparisons and selection.

use nbcc_ir::{
    BinaryOp, ConvertOp, FloatCompare, FloatFormat, FloatTest, IntCond, IntType, Op, SimtOp, Type,
    UnaryOp, Value,
};

use super::context::Lowerer;
use super::types::{float_format, int_type, register_type};
use crate::ast::ScalarType;
use crate::check::{Class, bits, class, is_signed};
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Instruction, Operand};

/// The integer comparison of a form; bits are unsigned.
pub fn int_condition(matched: &Matched, signed: bool) -> IntCond {
    use IntCond::*;
    let pick = |signed_cond, unsigned_cond| if signed { signed_cond } else { unsigned_cond };
    matched
        .modifiers
        .pick(&[
            (Modifier::Eq, Eq),
            (Modifier::Ne, Ne),
            (Modifier::Lt, pick(Slt, Ult)),
            (Modifier::Le, pick(Sle, Ule)),
            (Modifier::Gt, pick(Sgt, Ugt)),
            (Modifier::Ge, pick(Sge, Uge)),
            (Modifier::Lo, Ult),
            (Modifier::Ls, Ule),
            (Modifier::Hi, Ugt),
            (Modifier::Hs, Uge),
        ])
        .expect("a comparison")
}

fn float_test(matched: &Matched) -> FloatTest {
    use FloatTest::*;
    matched
        .modifiers
        .pick(&[
            (Modifier::Eq, Eq),
            (Modifier::Ne, Ne),
            (Modifier::Lt, Lt),
            (Modifier::Le, Le),
            (Modifier::Gt, Gt),
            (Modifier::Ge, Ge),
            (Modifier::Equ, Equ),
            (Modifier::Neu, Neu),
            (Modifier::Ltu, Ltu),
            (Modifier::Leu, Leu),
            (Modifier::Gtu, Gtu),
            (Modifier::Geu, Geu),
            (Modifier::Num, Num),
            (Modifier::Nan, Nan),
        ])
        .expect("a comparison")
}

impl Lowerer<'_> {
    /// Integer arithmetic. `inst` has passed the checks, as everywhere in this room.
    pub(super) fn integer(&mut self, inst: &Instruction, matched: &Matched) {
        use Meaning::*;
        let ty = matched.types[0];
        let ir = register_type(ty);
        let signed = is_signed(ty);
        let has = |modifier| matched.modifiers.has(modifier);
        let operands = &inst.operands;
        let (a, b) = (self.read(&operands[1], ty), operands.get(2));
        let b = b.map(|b| self.read(b, ty));
        let two = || b.expect("two sources");
        let value = match matched.pattern.row.meaning {
            Add if has(Modifier::Sat) => self.simt(SimtOp::AddSat, vec![a, two()], ir),
            Sub if has(Modifier::Sat) => self.simt(SimtOp::SubSat, vec![a, two()], ir),
            Add => self.binary(BinaryOp::Iadd, a, two()),
            Sub => self.binary(BinaryOp::Isub, a, two()),
            MulLo => self.binary(BinaryOp::Imul, a, two()),
            MulHi => self.simt(SimtOp::MulHigh(int_type(ty)), vec![a, two()], ir),
            MadLo => {
                let product = self.binary(BinaryOp::Imul, a, two());
                let c = self.read(&operands[3], ty);
                self.binary(BinaryOp::Iadd, product, c)
            }
            MadHi => {
                let c = self.read(&operands[3], ty);
                if has(Modifier::Sat) {
                    self.simt(SimtOp::MadHighSat, vec![a, two(), c], ir)
                } else {
                    let op = SimtOp::MulHigh(int_type(ty));
                    let product = self.simt(op, vec![a, two()], ir);
                    self.binary(BinaryOp::Iadd, product, c)
                }
            }
            Mul24 | Mad24 => self.mul24(matched, operands, a, two()),
            Sad => {
                let c = self.read(&operands[3], ty);
                let cond = if signed { IntCond::Slt } else { IntCond::Ult };
                let less = self.icmp(cond, a, two());
                let (up, down) =
                    (self.binary(BinaryOp::Isub, two(), a), self.binary(BinaryOp::Isub, a, two()));
                let difference = self.select(less, up, down);
                self.binary(BinaryOp::Iadd, c, difference)
            }
            IntDiv => self.simt(SimtOp::IntDiv(int_type(ty)), vec![a, two()], ir),
            IntRem => self.simt(SimtOp::IntRem(int_type(ty)), vec![a, two()], ir),
            IntAbs => {
                let zero = self.constant(ir, 0);
                let negative = self.icmp(IntCond::Slt, a, zero);
                let negated = self.value(Op::Unary(UnaryOp::Ineg, a), ir);
                self.select(negative, negated, a)
            }
            IntNeg => self.value(Op::Unary(UnaryOp::Ineg, a), ir),
            IntMin | IntMax => {
                let least = matched.pattern.row.meaning == IntMin;
                let value = self.extremum(least, signed, a, two());
                if has(Modifier::Relu) { self.at_least_zero(value) } else { value }
            }
            And => self.binary(BinaryOp::And, a, two()),
            Or => self.binary(BinaryOp::Or, a, two()),
            Xor => self.binary(BinaryOp::Xor, a, two()),
            Not => self.not(a),
            Cnot => {
                let (zero, one) = (self.constant(ir, 0), self.constant(ir, 1));
                let is_zero = self.icmp(IntCond::Eq, a, zero);
                self.select(is_zero, one, zero)
            }
            other => panic!("{other:?} is no integer arithmetic"),
        };
        self.write(&operands[0], ty, value);
    }

    /// The lesser or greater of two integers.
    pub(super) fn extremum(&mut self, least: bool, signed: bool, a: Value, b: Value) -> Value {
        let op = match (least, signed) {
            (true, true) => BinaryOp::Smin,
            (true, false) => BinaryOp::Umin,
            (false, true) => BinaryOp::Smax,
            (false, false) => BinaryOp::Umax,
        };
        self.binary(op, a, b)
    }

    fn at_least_zero(&mut self, value: Value) -> Value {
        let zero = self.constant(self.func.ty(value), 0);
        self.binary(BinaryOp::Smax, value, zero)
    }

    /// `and.pred` and its like, `not.pred`.
    pub(super) fn predicate_logic(&mut self, inst: &Instruction, matched: &Matched) {
        let a = self.read_predicate(&inst.operands[1]);
        let value = match matched.pattern.row.meaning {
            Meaning::Not => self.not(a),
            Meaning::MovPred => a,
            meaning => {
                let b = self.read_predicate(&inst.operands[2]);
                let op = match meaning {
                    Meaning::And => BinaryOp::And,
                    Meaning::Or => BinaryOp::Or,
                    _ => BinaryOp::Xor,
                };
                self.binary(op, a, b)
            }
        };
        self.write_predicate(&inst.operands[0], value);
    }

    /// `mul.wide`, `mad.wide`.
    pub(super) fn wide(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let wide = self.operand_type(matched, 0);
        let to = register_type(wide);
        let signed = is_signed(ty);
        let a = self.read(&inst.operands[1], ty);
        let b = self.read(&inst.operands[2], ty);
        let (a, b) = (self.fit(a, to, signed), self.fit(b, to, signed));
        let mut value = self.binary(BinaryOp::Imul, a, b);
        if let Some(c) = inst.operands.get(3) {
            let c = self.read(c, wide);
            value = self.binary(BinaryOp::Iadd, value, c);
        }
        self.write(&inst.operands[0], wide, value);
    }

    /// `mul24`, `mad24`: the low 24 bits of both operands; the low or the high 32 of the 48 bits of
    /// the product.
    fn mul24(&mut self, matched: &Matched, operands: &[Operand], a: Value, b: Value) -> Value {
        let signed = is_signed(matched.types[0]);
        let low = |this: &mut Self, value: Value| {
            if signed {
                let eight = this.i32(8);
                let up = this.binary(BinaryOp::Shl, value, eight);
                this.binary(BinaryOp::Ashr, up, eight)
            } else {
                let mask = this.i32(0xff_ffff);
                this.binary(BinaryOp::And, value, mask)
            }
        };
        let (a, b) = (low(self, a), low(self, b));
        let product = if matched.modifiers.has(Modifier::Lo) {
            self.binary(BinaryOp::Imul, a, b)
        } else {
            let (a, b) = (self.fit(a, Type::I64, signed), self.fit(b, Type::I64, signed));
            let product = self.binary(BinaryOp::Imul, a, b);
            let sixteen = self.constant(Type::I64, 16);
            let high = self.binary(BinaryOp::Lshr, product, sixteen);
            self.value(Op::Convert(ConvertOp::Truncate, high, Type::I32), Type::I32)
        };
        let Some(c) = operands.get(3) else { return product };
        let c = self.read(c, matched.types[0]);
        if matched.modifiers.has(Modifier::Sat) {
            self.simt(SimtOp::AddSat, vec![product, c], Type::I32)
        } else {
            self.binary(BinaryOp::Iadd, product, c)
        }
    }

    /// Additions and subtractions that take or give a carry. There is one flag, a variable of one
    /// bit, which a borrow clears: what a subtraction takes away is the flag's complement.
    pub(super) fn carry_chain(&mut self, inst: &Instruction, matched: &Matched) {
        use Meaning::*;
        let ty = matched.types[0];
        let ir = register_type(ty);
        let meaning = matched.pattern.row.meaning;
        let a = self.read(&inst.operands[1], ty);
        let b = self.read(&inst.operands[2], ty);
        let (a, b) = match meaning {
            MadLoCarry | MadLoWithCarry => {
                let product = self.binary(BinaryOp::Imul, a, b);
                (product, self.read(&inst.operands[3], ty))
            }
            MadHiCarry | MadHiWithCarry => {
                let product = self.simt(SimtOp::MulHigh(int_type(ty)), vec![a, b], ir);
                (product, self.read(&inst.operands[3], ty))
            }
            _ => (a, b),
        };
        let subtracts = matches!(meaning, SubCarry | SubWithCarry);
        let takes =
            matches!(meaning, AddWithCarry | SubWithCarry | MadLoWithCarry | MadHiWithCarry);
        let gives = matched.modifiers.has(Modifier::Cc);
        let op = if subtracts { BinaryOp::Isub } else { BinaryOp::Iadd };
        let step = |this: &mut Self, a: Value, b: Value| {
            let value = this.binary(op, a, b);
            let out = gives.then(|| match subtracts {
                true => this.icmp(IntCond::Ult, a, b),
                false => this.icmp(IntCond::Ult, value, a),
            });
            (value, out)
        };
        let (mut value, mut out) = step(self, a, b);
        if takes {
            let mut flag = self.get(self.carry);
            if subtracts {
                flag = self.not(flag);
            }
            let flag = self.fit(flag, ir, false);
            let (next, second) = step(self, value, flag);
            value = next;
            // At most one of both steps carries.
            out = out.zip(second).map(|(x, y)| self.binary(BinaryOp::Or, x, y));
        }
        self.write(&inst.operands[0], ty, value);
        if let Some(mut out) = out {
            if subtracts {
                out = self.not(out);
            }
            self.write_carry(out);
        }
    }

    /// `add.u16x2`, `min.s16x2` and the like: both halves.
    pub(super) fn pair(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = ScalarType::B32;
        let signed = matched.modifiers.has(Modifier::S16x2);
        let a = self.read(&inst.operands[1], ty);
        let b = self.read(&inst.operands[2], ty);
        let mut halves = [a, b];
        for (half, out) in [false, true].into_iter().zip(0..2) {
            let (x, y) = (self.half(a, half), self.half(b, half));
            halves[out] = match matched.pattern.row.meaning {
                Meaning::AddPair => self.binary(BinaryOp::Iadd, x, y),
                meaning => {
                    let value = self.extremum(meaning == Meaning::MinPair, signed, x, y);
                    if matched.modifiers.has(Modifier::Relu) {
                        self.at_least_zero(value)
                    } else {
                        value
                    }
                }
            };
        }
        let value = self.join_halves(halves[0], halves[1]);
        self.write(&inst.operands[0], ty, value);
    }

    /// The low or high half of 32 bits.
    pub(super) fn half(&mut self, value: Value, high: bool) -> Value {
        let mut value = value;
        if high {
            let sixteen = self.i32(16);
            value = self.binary(BinaryOp::Lshr, value, sixteen);
        }
        self.fit(value, Type::I16, false)
    }

    /// 32 bits of two halves.
    pub(super) fn join_halves(&mut self, low: Value, high: Value) -> Value {
        let (low, high) = (self.fit(low, Type::I32, false), self.fit(high, Type::I32, false));
        let sixteen = self.i32(16);
        let high = self.binary(BinaryOp::Shl, high, sixteen);
        self.binary(BinaryOp::Or, low, high)
    }

    /// Compares two operands of a type; packed types give the result of the high halves, too.
    fn compare(
        &mut self,
        matched: &Matched,
        ty: ScalarType,
        a: &Operand,
        b: &Operand,
    ) -> (Value, Option<Value>) {
        let (a, b) = (self.read(a, ty), self.read(b, ty));
        if class(ty) != Class::Float {
            return (self.icmp(int_condition(matched, is_signed(ty)), a, b), None);
        }
        let format = float_format(ty);
        let ftz = matched.modifiers.has(Modifier::Ftz);
        let op = SimtOp::Compare(FloatCompare { test: float_test(matched), format, ftz });
        if format.is_packed() {
            let inst = self.push(Op::Simt(op, vec![a, b]), &[Type::I1, Type::I1]);
            let results = &self.func.insts[inst].results;
            (results[0], Some(results[1]))
        } else {
            (self.simt(op, vec![a, b], Type::I1), None)
        }
    }

    /// Combines the result of a comparison with the further predicate, if there is one.
    fn combine(&mut self, matched: &Matched, value: Value, other: Option<Value>) -> Value {
        let Some(other) = other else { return value };
        let op = matched.modifiers.pick(&[
            (Modifier::And, BinaryOp::And),
            (Modifier::Or, BinaryOp::Or),
            (Modifier::Xor, BinaryOp::Xor),
        ]);
        self.binary(op.expect("a boolean operation"), value, other)
    }

    pub(super) fn setp(&mut self, inst: &Instruction, matched: &Matched) {
        use crate::resolved::OperandKind;
        let ty = matched.types[0];
        let (low, high) = self.compare(matched, ty, &inst.operands[1], &inst.operands[2]);
        let other = inst.operands.get(3).map(|c| self.read_predicate(c));
        let (p, q) = match &inst.operands[0].kind {
            OperandKind::Pair(pair) => (&pair[0], Some(&pair[1])),
            _ => (&inst.operands[0], None),
        };
        let value = self.combine(matched, low, other);
        self.write_predicate(p, value);
        if let Some(q) = q {
            let second = match high {
                Some(high) => high,
                None => self.not(low),
            };
            let value = self.combine(matched, second, other);
            self.write_predicate(q, value);
        }
    }

    pub(super) fn set_instruction(&mut self, inst: &Instruction, matched: &Matched) {
        let (to, ty) = (matched.types[0], matched.types[1]);
        let (low, high) = self.compare(matched, ty, &inst.operands[1], &inst.operands[2]);
        let other = inst.operands.get(3).map(|c| self.read_predicate(c));
        let low = self.combine(matched, low, other);
        let value = match high {
            None => {
                let one = true_bits(to);
                let ir = register_type(to);
                let (one, zero) = (self.constant(ir, one), self.constant(ir, 0));
                self.select(low, one, zero)
            }
            Some(high) => {
                let high = self.combine(matched, high, other);
                // Halves of the packed format, or of two masks where the result is an integer.
                let one = match to {
                    ScalarType::F16x2 => 0x3c00,
                    ScalarType::Bf16x2 => 0x3f80,
                    _ => 0xffff,
                };
                let (one, zero) = (self.constant(Type::I16, one), self.constant(Type::I16, 0));
                let low = self.select(low, one, zero);
                let high = self.select(high, one, zero);
                self.join_halves(low, high)
            }
        };
        self.write(&inst.operands[0], to, value);
    }

    pub(super) fn selp(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let a = self.read(&inst.operands[1], ty);
        let b = self.read(&inst.operands[2], ty);
        let cond = self.read_predicate(&inst.operands[3]);
        let value = self.select(cond, a, b);
        self.write(&inst.operands[0], ty, value);
    }

    /// `slct`: by the sign of the third source. Negative zero counts as zero, a NaN as negative.
    pub(super) fn slct(&mut self, inst: &Instruction, matched: &Matched) {
        let (ty, by) = (matched.types[0], matched.types[1]);
        let a = self.read(&inst.operands[1], ty);
        let b = self.read(&inst.operands[2], ty);
        let c = self.read(&inst.operands[3], by);
        let cond = if by == ScalarType::F32 {
            let ftz = matched.modifiers.has(Modifier::Ftz);
            let zero = self.constant(Type::F32, 0);
            let compare = FloatCompare { test: FloatTest::Ge, format: FloatFormat::F32, ftz };
            self.simt(SimtOp::Compare(compare), vec![c, zero], Type::I1)
        } else {
            let zero = self.i32(0);
            self.icmp(IntCond::Sge, c, zero)
        };
        let value = self.select(cond, a, b);
        self.write(&inst.operands[0], ty, value);
    }

    /// `dp4a`, `dp2a`.
    pub(super) fn dot(&mut self, inst: &Instruction, matched: &Matched) {
        let (ta, tb) = (matched.types[0], matched.types[1]);
        let a = self.read(&inst.operands[1], ta);
        let b = self.read(&inst.operands[2], tb);
        let c = self.read(&inst.operands[3], ScalarType::S32);
        let (sa, sb) = (is_signed(ta), is_signed(tb));
        let op = match matched.pattern.row.meaning {
            Meaning::Dp4a => SimtOp::Dp4a(sa, sb),
            _ => SimtOp::Dp2a(sa, sb, matched.modifiers.has(Modifier::Hi)),
        };
        let value = self.simt(op, vec![a, b, c], Type::I32);
        self.write(&inst.operands[0], ScalarType::B32, value);
    }
}

/// What `set` gives where the comparison holds: 1.0, or all ones.
fn true_bits(ty: ScalarType) -> u64 {
    match ty {
        ScalarType::F32 => u64::from(1f32.to_bits()),
        ScalarType::F16 => 0x3c00,
        ScalarType::Bf16 => 0x3f80,
        other => u64::MAX >> (64 - bits(other)),
    }
}

/// The integer type of 32 bits with a sign.
pub fn int32(signed: bool) -> IntType {
    if signed { IntType::S32 } else { IntType::U32 }
}
