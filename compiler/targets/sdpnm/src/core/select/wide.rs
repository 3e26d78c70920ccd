//! Operations on values of 64 bits, as pairs of words: Warren, "Hacker's Delight", chapters 2 and 8.

use nbcc_ir::{BinaryOp, ConvertOp, IntCond, Op, Scalar, UnaryOp, Value};
use nbcc_isa_sdpnm::core::{I12, Inst};
use nbcc_mach::VReg;

use super::{Selecting, Selector};

type Pair = [VReg; 2];

impl Selector<'_> {
    pub(super) fn wide_unary(&mut self, op: UnaryOp, a: Value, result: Value) -> Selecting<()> {
        let [low, high] = self.regs(a);
        let zero = self.zero;
        let pair = match op {
            UnaryOp::Ineg => self.wide_sub([zero, zero], [low, high]),
            UnaryOp::Not => {
                [low, high].map(|a| self.made(|dst| Inst::Xori { dst, a, imm: I12(-1) }))
            }
            other => return self.refuse(format!("the operation {other:?}")),
        };
        self.set_both(result, pair);
        Ok(())
    }

    pub(super) fn wide_binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        result: Value,
    ) -> Selecting<()> {
        use BinaryOp::*;
        let pair = match op {
            Imul => self.wide_mul(a, b),
            Shl | Lshr | Ashr => self.wide_shift(op, a, b),
            Iadd => {
                let (a, b) = (self.regs(a), self.regs(b));
                self.wide_add(a, b)
            }
            Isub => {
                let (a, b) = (self.regs(a), self.regs(b));
                self.wide_sub(a, b)
            }
            And | Or | Xor => {
                let (a, b) = (self.regs(a), self.regs(b));
                [0, 1].map(|word| {
                    let (a, b) = (a[word], b[word]);
                    self.made(|dst| match op {
                        And => Inst::And { dst, a, b },
                        Or => Inst::Or { dst, a, b },
                        _ => Inst::Xor { dst, a, b },
                    })
                })
            }
            Smin | Smax | Umin | Umax => {
                let (a, b) = (self.regs(a), self.regs(b));
                let less = self.wide_less(matches!(op, Smin | Smax), a, b);
                let zero = self.zero;
                let mask = self.made(|dst| Inst::Sub { dst, a: zero, b: less });
                let (a, b) = if matches!(op, Smin | Umin) { (a, b) } else { (b, a) };
                [0, 1].map(|word| self.masked(mask, a[word], b[word]))
            }
            other => return self.refuse(format!("the operation {other:?} on 64 bits")),
        };
        self.set_both(result, pair);
        Ok(())
    }

    fn wide_add(&mut self, [a0, a1]: Pair, [b0, b1]: Pair) -> Pair {
        let low = self.made(|dst| Inst::Add { dst, a: a0, b: b0 });
        let carry = self.made(|dst| Inst::Sltu { dst, a: low, b: b0 });
        let high = self.made(|dst| Inst::Add { dst, a: a1, b: b1 });
        [low, self.made(|dst| Inst::Add { dst, a: high, b: carry })]
    }

    fn wide_sub(&mut self, [a0, a1]: Pair, [b0, b1]: Pair) -> Pair {
        let low = self.made(|dst| Inst::Sub { dst, a: a0, b: b0 });
        let borrow = self.made(|dst| Inst::Sltu { dst, a: a0, b: b0 });
        let high = self.made(|dst| Inst::Sub { dst, a: a1, b: b1 });
        [low, self.made(|dst| Inst::Sub { dst, a: high, b: borrow })]
    }

    /// Whether a value is a word that was extended, with its sign or with zeros.
    fn extension(&self, value: Value) -> Option<bool> {
        if let Some(known) = self.known(value) {
            return (known == i64::from(known as i32)).then_some(true);
        }
        match self.ir.def_op(value) {
            Some(Op::Convert(ConvertOp::SignExtend, ..)) => Some(true),
            // What is narrower is not negative as a word.
            Some(Op::Convert(ConvertOp::ZeroExtend, a, _)) => {
                Some(self.ir.ty(*a).scalar != Scalar::I32)
            }
            _ => None,
        }
    }

    fn wide_mul(&mut self, a: Value, b: Value) -> Pair {
        let extensions = (self.extension(a), self.extension(b));
        let ([a0, a1], [b0, b1]) = (self.regs(a), self.regs(b));
        let low = self.made(|dst| Inst::Mul { dst, a: a0, b: b0 });
        let high = match extensions {
            (Some(true), Some(true)) => self.made(|dst| Inst::Mulh { dst, a: a0, b: b0 }),
            (Some(false), Some(false)) => self.made(|dst| Inst::Mulhu { dst, a: a0, b: b0 }),
            (Some(true), Some(false)) => self.made(|dst| Inst::Mulhsu { dst, a: a0, b: b0 }),
            (Some(false), Some(true)) => self.made(|dst| Inst::Mulhsu { dst, a: b0, b: a0 }),
            _ => {
                let high = self.made(|dst| Inst::Mulhu { dst, a: a0, b: b0 });
                let left = self.made(|dst| Inst::Mul { dst, a: a1, b: b0 });
                let right = self.made(|dst| Inst::Mul { dst, a: a0, b: b1 });
                let sum = self.made(|dst| Inst::Add { dst, a: left, b: right });
                self.made(|dst| Inst::Add { dst, a: high, b: sum })
            }
        };
        [low, high]
    }

    fn wide_shift(&mut self, op: BinaryOp, a: Value, b: Value) -> Pair {
        let regs = self.regs(a);
        if let Some(bits) = self.ir.splat_constant(b) {
            return self.wide_shift_by(op, regs, bits.min(64) as u32);
        }
        let amount = match self.below(b, 64) {
            Some(amount) => return self.shift_within(op, regs, amount),
            None => self.regs(b),
        };
        // Amounts of 64 and more leave zeros, or signs.
        let inside = self.made(|dst| Inst::Sltiu { dst, a: amount[0], imm: I12(64) });
        let no_high = self.is_zero(amount[1], true);
        let inside = self.made(|dst| Inst::And { dst, a: inside, b: no_high });
        let shifted = self.shift_within(op, regs, b);
        let outside = match op {
            BinaryOp::Ashr => self.made(|dst| Inst::Srai { dst, a: regs[1], amount: 31 }),
            _ => self.zero,
        };
        let zero = self.zero;
        let mask = self.made(|dst| Inst::Sub { dst, a: zero, b: inside });
        shifted.map(|word| self.masked(mask, word, outside))
    }

    /// Shifts by a constant.
    fn wide_shift_by(&mut self, op: BinaryOp, [low, high]: Pair, amount: u32) -> Pair {
        let zero = self.zero;
        let signs = |this: &mut Self| this.made(|dst| Inst::Srai { dst, a: high, amount: 31 });
        match (op, amount) {
            (_, 0) => [low, high],
            (BinaryOp::Shl, 64..) => [zero, zero],
            (BinaryOp::Lshr, 64..) => [zero, zero],
            (_, 64..) => [signs(self); 2],
            (BinaryOp::Shl, 32..) => {
                let amount = amount - 32;
                [zero, self.made(|dst| Inst::Slli { dst, a: low, amount })]
            }
            (BinaryOp::Lshr, 32..) => {
                let amount = amount - 32;
                [self.made(|dst| Inst::Srli { dst, a: high, amount }), zero]
            }
            (_, 32..) => {
                let amount = amount - 32;
                let word = self.made(|dst| Inst::Srai { dst, a: high, amount });
                [word, signs(self)]
            }
            (BinaryOp::Shl, _) => {
                let rest = 32 - amount;
                let left = self.made(|dst| Inst::Slli { dst, a: high, amount });
                let right = self.made(|dst| Inst::Srli { dst, a: low, amount: rest });
                let word = self.made(|dst| Inst::Slli { dst, a: low, amount });
                [word, self.made(|dst| Inst::Or { dst, a: left, b: right })]
            }
            (_, _) => {
                let rest = 32 - amount;
                let right = self.made(|dst| Inst::Srli { dst, a: low, amount });
                let left = self.made(|dst| Inst::Slli { dst, a: high, amount: rest });
                let word = self.made(|dst| match op {
                    BinaryOp::Lshr => Inst::Srli { dst, a: high, amount },
                    _ => Inst::Srai { dst, a: high, amount },
                });
                [self.made(|dst| Inst::Or { dst, a: left, b: right }), word]
            }
        }
    }

    /// Shifts by the low six bits of a value.
    fn shift_within(&mut self, op: BinaryOp, [low, high]: Pair, amount: Value) -> Pair {
        let amount = self.reg(amount);
        let zero = self.zero;
        // Ones where words change places: bit 5 of the amount.
        let up = self.made(|dst| Inst::Slli { dst, a: amount, amount: 26 });
        let swap = self.made(|dst| Inst::Srai { dst, a: up, amount: 31 });
        let keep = self.made(|dst| Inst::Xori { dst, a: swap, imm: I12(-1) });
        // 31 less the low five bits, so that with one more nothing is left where they are zero.
        let rest = self.made(|dst| Inst::Xori { dst, a: amount, imm: I12(-1) });
        let by = |this: &mut Self, a: VReg, kind: BinaryOp| {
            this.made(|dst| match kind {
                BinaryOp::Shl => Inst::Sll { dst, a, b: amount },
                BinaryOp::Lshr => Inst::Srl { dst, a, b: amount },
                _ => Inst::Sra { dst, a, b: amount },
            })
        };
        if op == BinaryOp::Shl {
            let shifted = by(self, low, op);
            let half = self.made(|dst| Inst::Srli { dst, a: low, amount: 1 });
            let across = self.made(|dst| Inst::Srl { dst, a: half, b: rest });
            let own = by(self, high, op);
            let joined = self.made(|dst| Inst::Or { dst, a: own, b: across });
            let word = self.made(|dst| Inst::And { dst, a: shifted, b: keep });
            return [word, self.masked(swap, shifted, joined)];
        }
        let shifted = by(self, high, op);
        let twice = self.made(|dst| Inst::Slli { dst, a: high, amount: 1 });
        let across = self.made(|dst| Inst::Sll { dst, a: twice, b: rest });
        let own = by(self, low, BinaryOp::Lshr);
        let joined = self.made(|dst| Inst::Or { dst, a: own, b: across });
        let word = self.masked(swap, shifted, joined);
        let filled = match op {
            BinaryOp::Ashr => self.made(|dst| Inst::Srai { dst, a: high, amount: 31 }),
            _ => zero,
        };
        [word, self.masked(swap, filled, shifted)]
    }

    /// 1 where the first is less, else 0.
    fn wide_less(&mut self, signed: bool, [a0, a1]: Pair, [b0, b1]: Pair) -> VReg {
        let high = self.less(signed, a1, b1);
        let low = self.less(false, a0, b0);
        let differ = self.made(|dst| Inst::Xor { dst, a: a1, b: b1 });
        let same = self.is_zero(differ, true);
        let low = self.made(|dst| Inst::And { dst, a: low, b: same });
        self.made(|dst| Inst::Or { dst, a: high, b: low })
    }

    pub(super) fn wide_compare(&mut self, cond: IntCond, a: Value, b: Value) -> VReg {
        use IntCond::*;
        let (a, b) = (self.regs(a), self.regs(b));
        match cond {
            Eq | Ne => {
                let [low, high] = [0, 1].map(|word| {
                    let (a, b) = (a[word], b[word]);
                    match b == self.zero {
                        true => a,
                        false => self.made(|dst| Inst::Xor { dst, a, b }),
                    }
                });
                let differ = self.made(|dst| Inst::Or { dst, a: low, b: high });
                self.is_zero(differ, cond == Eq)
            }
            // Only the sign matters.
            Slt if b == [self.zero; 2] => self.made(|dst| Inst::Srli { dst, a: a[1], amount: 31 }),
            Slt | Ult => self.wide_less(cond == Slt, a, b),
            Sgt | Ugt => self.wide_less(cond == Sgt, b, a),
            Sge | Uge => {
                let less = self.wide_less(cond == Sge, a, b);
                self.not(less)
            }
            Sle | Ule => {
                let greater = self.wide_less(cond == Sle, b, a);
                self.not(greater)
            }
        }
    }
}
