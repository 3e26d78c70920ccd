//! Operations on values of up to 32 bits, conversions, comparisons, selections.

use nbcc_ir::{BinaryOp, ConvertOp, IntCond, Op, Scalar, Type, UnaryOp, Value};
use nbcc_isa_sdpnm::core::{I12, Inst, TrapKind};
use nbcc_mach::VReg;

use super::{Selecting, Selector};
use crate::narrow::Upper;

impl Selector<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value, result: Value) -> Selecting<()> {
        let zero = self.zero;
        let is_truth = self.ir.ty(a).scalar == Scalar::I1;
        let a = self.reg(a);
        let reg = match op {
            // Of one bit, the negation is the value itself.
            UnaryOp::Ineg if is_truth => a,
            UnaryOp::Ineg => self.made(|dst| Inst::Sub { dst, a: zero, b: a }),
            UnaryOp::Not => {
                let imm = I12(if is_truth { 1 } else { -1 });
                self.made(|dst| Inst::Xori { dst, a, imm })
            }
            other => return self.refuse(format!("the operation {other:?}")),
        };
        self.set(result, reg);
        Ok(())
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        result: Value,
    ) -> Selecting<()> {
        use BinaryOp::*;
        let ty = self.ir.ty(a);
        if ty.scalar == Scalar::I1 && !matches!(op, And | Or | Xor) {
            return self.truth_binary(op, a, b, result);
        }
        // A truth value that holds is 1 in its register.
        let ones = if ty.scalar == Scalar::I1 { 1 } else { -1 };
        let small = |this: &Self, value: Value, sign: i64| {
            this.known(value).and_then(|known| I12::new((known.wrapping_mul(sign) & ones) as i32))
        };
        let reg = match op {
            Iadd | Isub => {
                let sign = if op == Iadd { 1 } else { -1 };
                if let Some(imm) = small(self, b, sign) {
                    let a = self.reg(a);
                    self.made(|dst| Inst::Addi { dst, a, imm })
                } else if let (Some(imm), Iadd) = (small(self, a, 1), op) {
                    let a = self.reg(b);
                    self.made(|dst| Inst::Addi { dst, a, imm })
                } else {
                    let (a, b) = (self.reg(a), self.reg(b));
                    match op {
                        Iadd => self.made(|dst| Inst::Add { dst, a, b }),
                        _ => self.made(|dst| Inst::Sub { dst, a, b }),
                    }
                }
            }
            And | Or | Xor => {
                // The upper bits of both are those of the result.
                let upper = match (self.upper[a], self.upper[b]) {
                    (Upper::Both, other) | (other, Upper::Both) if op == And => match other {
                        Upper::Signs | Upper::Zeros | Upper::Both => other,
                        Upper::Any => Upper::Any,
                    },
                    (Upper::Both, other) | (other, Upper::Both) => other,
                    (x, y) if x == y => x,
                    (Upper::Zeros, _) | (_, Upper::Zeros) if op == And => Upper::Zeros,
                    _ => Upper::Any,
                };
                self.upper[result] = upper;
                let pair = match (small(self, b, 1), small(self, a, 1)) {
                    (Some(imm), _) => Some((a, imm)),
                    (_, Some(imm)) => Some((b, imm)),
                    _ => None,
                };
                match pair {
                    Some((a, imm)) => {
                        let a = self.reg(a);
                        self.made(|dst| match op {
                            And => Inst::Andi { dst, a, imm },
                            Or => Inst::Ori { dst, a, imm },
                            _ => Inst::Xori { dst, a, imm },
                        })
                    }
                    None => {
                        let (a, b) = (self.reg(a), self.reg(b));
                        self.made(|dst| match op {
                            And => Inst::And { dst, a, b },
                            Or => Inst::Or { dst, a, b },
                            _ => Inst::Xor { dst, a, b },
                        })
                    }
                }
            }
            Imul => {
                let power = |known: i64| {
                    let bits = known as u32;
                    bits.is_power_of_two().then(|| bits.trailing_zeros())
                };
                match (self.known(a).and_then(power), self.known(b).and_then(power)) {
                    (_, Some(amount)) => {
                        let a = self.reg(a);
                        self.made(|dst| Inst::Slli { dst, a, amount })
                    }
                    (Some(amount), _) => {
                        let a = self.reg(b);
                        self.made(|dst| Inst::Slli { dst, a, amount })
                    }
                    _ => {
                        let (a, b) = (self.reg(a), self.reg(b));
                        self.made(|dst| Inst::Mul { dst, a, b })
                    }
                }
            }
            Sdiv | Srem | Udiv | Urem => self.divide(op, a, b),
            Shl | Lshr | Ashr => self.shift(op, a, b),
            Smin | Smax | Umin | Umax => {
                let signed = matches!(op, Smin | Smax);
                self.upper[result] = if signed { Upper::Signs } else { Upper::Zeros };
                let (a, b) = (self.extended(a, signed), self.extended(b, signed));
                let less = self.less(signed, a, b);
                match op {
                    Smin | Umin => self.chosen(less, a, b),
                    _ => self.chosen(less, b, a),
                }
            }
            other => return self.refuse(format!("the operation {other:?}")),
        };
        if matches!(op, Lshr) {
            self.upper[result] = Upper::Zeros;
        } else if matches!(op, Ashr) {
            self.upper[result] = Upper::Signs;
        }
        self.set(result, reg);
        Ok(())
    }

    /// Arithmetic modulo two.
    fn truth_binary(&mut self, op: BinaryOp, a: Value, b: Value, result: Value) -> Selecting<()> {
        let (a, b) = (self.reg(a), self.reg(b));
        let reg = match op {
            BinaryOp::Iadd | BinaryOp::Isub => self.made(|dst| Inst::Xor { dst, a, b }),
            BinaryOp::Imul | BinaryOp::Umin | BinaryOp::Smax => {
                self.made(|dst| Inst::And { dst, a, b })
            }
            BinaryOp::Umax | BinaryOp::Smin => self.made(|dst| Inst::Or { dst, a, b }),
            other => return self.refuse(format!("the operation {other:?} on truth values")),
        };
        self.set(result, reg);
        Ok(())
    }

    /// 1 where the first is less, else 0.
    pub(super) fn less(&mut self, signed: bool, a: VReg, b: VReg) -> VReg {
        self.made(|dst| match signed {
            true => Inst::Slt { dst, a, b },
            false => Inst::Sltu { dst, a, b },
        })
    }

    /// `a` where a truth value holds, else `b`.
    pub(super) fn chosen(&mut self, truth: VReg, a: VReg, b: VReg) -> VReg {
        let zero = self.zero;
        let mask = self.made(|dst| Inst::Sub { dst, a: zero, b: truth });
        self.masked(mask, a, b)
    }

    /// `a` where a mask has ones, else `b`.
    pub(super) fn masked(&mut self, mask: VReg, a: VReg, b: VReg) -> VReg {
        if b == self.zero {
            return self.made(|dst| Inst::And { dst, a, b: mask });
        }
        let differ = self.made(|dst| Inst::Xor { dst, a, b });
        let differ = self.made(|dst| Inst::And { dst, a: differ, b: mask });
        self.made(|dst| Inst::Xor { dst, a: b, b: differ })
    }

    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value, result: Value) {
        let (truth, zero) = (self.reg(cond), self.zero);
        let mask = self.made(|dst| Inst::Sub { dst, a: zero, b: truth });
        let ([a0, a1], [b0, b1]) = (self.regs(a), self.regs(b));
        let low = self.masked(mask, a0, b0);
        let high = if self.is_wide(result) { self.masked(mask, a1, b1) } else { low };
        self.upper[result] = match (self.upper[a], self.upper[b]) {
            (Upper::Both, other) | (other, Upper::Both) => other,
            (x, y) if x == y => x,
            _ => Upper::Any,
        };
        self.set_both(result, [low, high]);
    }

    fn divide(&mut self, op: BinaryOp, a: Value, b: Value) -> VReg {
        let signed = matches!(op, BinaryOp::Sdiv | BinaryOp::Srem);
        let divisor = self.known(b);
        let (a, b) = (self.extended(a, signed), self.extended(b, signed));
        if divisor.is_none_or(|divisor| divisor == 0) {
            let zero = self.zero;
            self.trap_where(|to| Inst::Beq { a: b, b: zero, to }, TrapKind::Division, &[]);
        }
        self.made(|dst| match op {
            BinaryOp::Sdiv => Inst::Div { dst, a, b },
            BinaryOp::Srem => Inst::Rem { dst, a, b },
            BinaryOp::Udiv => Inst::Divu { dst, a, b },
            _ => Inst::Remu { dst, a, b },
        })
    }

    /// An amount that is certainly below a power of two, without the operation that makes it so.
    pub(super) fn below(&self, amount: Value, limit: u32) -> Option<Value> {
        let Some(Op::Binary(BinaryOp::And, x, mask)) = self.ir.def_op(amount) else { return None };
        (self.known(*mask) == Some(i64::from(limit) - 1)).then_some(*x)
    }

    fn shift(&mut self, op: BinaryOp, a: Value, b: Value) -> VReg {
        let width = self.ir.ty(a).scalar.bits();
        let source = match op {
            BinaryOp::Lshr => self.extended(a, false),
            BinaryOp::Ashr => self.extended(a, true),
            _ => self.reg(a),
        };
        let zero = self.zero;
        if let Some(bits) = self.ir.splat_constant(b) {
            let amount = bits.min(32) as u32;
            return match (op, amount < width) {
                (BinaryOp::Ashr, inside) => {
                    let amount = if inside { amount } else { width - 1 };
                    self.made(|dst| Inst::Srai { dst, a: source, amount })
                }
                (_, false) => zero,
                (BinaryOp::Shl, _) => self.made(|dst| Inst::Slli { dst, a: source, amount }),
                _ => self.made(|dst| Inst::Srli { dst, a: source, amount }),
            };
        }
        let shifted = |this: &mut Self, amount: VReg| {
            this.made(|dst| match op {
                BinaryOp::Shl => Inst::Sll { dst, a: source, b: amount },
                BinaryOp::Lshr => Inst::Srl { dst, a: source, b: amount },
                _ => Inst::Sra { dst, a: source, b: amount },
            })
        };
        // The core takes amounts modulo 32 by itself.
        if let (32, Some(amount)) = (width, self.below(b, 32)) {
            let amount = self.reg(amount);
            return shifted(self, amount);
        }
        let amount = self.extended(b, false);
        let inside = self.made(|dst| Inst::Sltiu { dst, a: amount, imm: I12(width as i32) });
        if op == BinaryOp::Ashr {
            let most = self.word(width as i32 - 1);
            let amount = self.chosen(inside, amount, most);
            return shifted(self, amount);
        }
        let value = shifted(self, amount);
        self.chosen(inside, value, zero)
    }

    /// A comparison as a truth value.
    pub(super) fn compare(&mut self, cond: IntCond, a: Value, b: Value) -> VReg {
        use IntCond::*;
        if self.is_wide(a) {
            return self.wide_compare(cond, a, b);
        }
        let signed = matches!(cond, Slt | Sle | Sgt | Sge);
        // Truth values are -1 and 0 where they have a sign.
        let known = self.known(b).filter(|_| self.ir.ty(a).scalar != Scalar::I1);
        let x = self.operand(a, signed);
        match (cond, known) {
            (Eq | Ne, Some(known)) => {
                let unsigned = match self.ir.ty(a).scalar.bits() {
                    32 => known,
                    width => known & ((1 << width) - 1),
                };
                let differ = match I12::new(unsigned as i32) {
                    Some(I12(0)) => x,
                    Some(imm) => self.made(|dst| Inst::Xori { dst, a: x, imm }),
                    None => {
                        let y = self.operand(b, signed);
                        self.made(|dst| Inst::Xor { dst, a: x, b: y })
                    }
                };
                return self.is_zero(differ, cond == Eq);
            }
            (Slt | Sge, Some(known)) if I12::new(known as i32).is_some() => {
                let less = self.made(|dst| Inst::Slti { dst, a: x, imm: I12(known as i32) });
                return if cond == Slt { less } else { self.not(less) };
            }
            _ => {}
        }
        let y = self.operand(b, signed);
        match cond {
            Eq | Ne => {
                let differ = self.made(|dst| Inst::Xor { dst, a: x, b: y });
                self.is_zero(differ, cond == Eq)
            }
            Slt | Ult => self.less(signed, x, y),
            Sgt | Ugt => self.less(signed, y, x),
            Sge | Uge => {
                let less = self.less(signed, x, y);
                self.not(less)
            }
            Sle | Ule => {
                let greater = self.less(signed, y, x);
                self.not(greater)
            }
        }
    }

    /// An operand of a comparison: signed truth values are 0 and -1.
    pub(super) fn operand(&mut self, value: Value, signed: bool) -> VReg {
        if signed && self.ir.ty(value).scalar == Scalar::I1 {
            let (truth, zero) = (self.reg(value), self.zero);
            return self.made(|dst| Inst::Sub { dst, a: zero, b: truth });
        }
        self.extended(value, signed)
    }

    pub(super) fn not(&mut self, truth: VReg) -> VReg {
        self.made(|dst| Inst::Xori { dst, a: truth, imm: I12(1) })
    }

    /// Whether a word is zero, or is not.
    pub(super) fn is_zero(&mut self, word: VReg, is: bool) -> VReg {
        let zero = self.zero;
        self.made(|dst| match is {
            true => Inst::Sltiu { dst, a: word, imm: I12(1) },
            false => Inst::Sltu { dst, a: zero, b: word },
        })
    }

    pub(super) fn convert(
        &mut self,
        op: ConvertOp,
        a: Value,
        to: Type,
        result: Value,
    ) -> Selecting<()> {
        let from = self.ir.ty(a);
        self.check_type(from)?;
        match op {
            ConvertOp::Truncate => {
                let low = self.reg(a);
                let reg = match to.scalar {
                    Scalar::I1 => self.made(|dst| Inst::Andi { dst, a: low, imm: I12(1) }),
                    _ => low,
                };
                self.set(result, reg);
            }
            ConvertOp::ZeroExtend | ConvertOp::SignExtend => {
                let signed = op == ConvertOp::SignExtend;
                let low = self.operand(a, signed);
                self.upper[result] = match (signed, from.scalar.bits() < to.scalar.bits()) {
                    (true, _) => Upper::Signs,
                    (false, true) => Upper::Both,
                    (false, false) => Upper::Zeros,
                };
                let high = match (to.scalar == Scalar::I64, signed) {
                    (false, _) => low,
                    (true, false) => self.zero,
                    (true, true) => self.made(|dst| Inst::Srai { dst, a: low, amount: 31 }),
                };
                self.set_both(result, [low, high]);
            }
            ConvertOp::Bitcast if from == to => {
                let regs = self.regs(a);
                self.upper[result] = self.upper[a];
                self.set_both(result, regs);
            }
            other => return self.refuse(format!("the operation {other:?}")),
        }
        Ok(())
    }
}
