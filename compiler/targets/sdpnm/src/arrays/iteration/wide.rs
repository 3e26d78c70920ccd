//! Values of 64 bits as two words: the low one as any other word, the high one beside it. Sums hand a
//! carry from one to the other; a product is made of four of halves.

use nbcc_ir::{BinaryOp, IntCond, Op, UnaryOp, Value, ValueDef};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::{Global, Operand};
use super::build::{Builder, Building, Truth};

/// A factor of a product of 64 bits.
struct Factor {
    word: Operand,
    is_signed: bool,
    /// Whether its high half is nothing but its sign.
    is_half: bool,
    /// Its high word, where that is more than a sign or nothing.
    high: Option<Operand>,
}

impl Builder<'_> {
    /// The high word of a value of 64 bits.
    pub(super) fn high(&mut self, value: Value) -> Building<Operand> {
        if let Some(&known) = self.highs.get(&value) {
            return Ok(known);
        }
        let before = self.span;
        self.enter()?;
        let made = self.make_high(value)?;
        self.depth -= 1;
        self.span = before;
        self.highs.insert(value, made);
        Ok(made)
    }

    fn make_high(&mut self, value: Value) -> Building<Operand> {
        let func = self.func;
        if let Some(known) = self.known(value) {
            return Ok(Self::immediate((known >> 32) as i32));
        }
        if self.ranges.fits(value, 0, u32::MAX.into()) {
            return Ok(Operand::None);
        }
        if self.is_word(value) {
            let (word, _) = self.word(value)?;
            return Ok(self.op(Opcode::RSftS, word, Operand::Immediate(31)));
        }
        if !self.shape.defines(func, value) {
            return Ok(self.global(Global::High(value)));
        }
        let inst = match func.values[value].def {
            ValueDef::Param(block, number) if block == self.shape.header => {
                return Ok(self.carry_high(number));
            }
            ValueDef::Param(block, number) => {
                let args = self.args(block, number);
                let mut words = Vec::new();
                for &way in &args {
                    words.push(self.high(way)?);
                }
                return self.meeting(block, number, &args, &words);
            }
            ValueDef::Result(inst, _) => inst,
        };
        self.span = func.insts[inst].span.or(self.span);
        match func.insts[inst].op {
            Op::Unary(UnaryOp::Ineg, a) => {
                let (low, high) = (self.word(a)?.0, self.high(a)?);
                Ok(self.high_sum(Opcode::Sub, (Operand::None, low), (Operand::None, high)))
            }
            Op::Unary(UnaryOp::Not, a) => {
                let high = self.high(a)?;
                Ok(self.op(Opcode::Xor, high, Operand::Immediate(-1)))
            }
            Op::Select(cond, a, b) => {
                let truth = self.truth(cond)?;
                let (a, b) = (self.high(a)?, self.high(b)?);
                Ok(self.choose(truth, a, b))
            }
            Op::Binary(op, a, b) => self.high_binary(op, a, b),
            Op::Load(..) => self.load_high(inst, value),
            _ => self.refuse("values of 64 bits"),
        }
    }

    fn high_binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Building<Operand> {
        use BinaryOp::*;
        match op {
            Iadd | Isub => {
                let opcode = if op == Iadd { Opcode::Add } else { Opcode::Sub };
                let low = (self.word(a)?.0, self.word(b)?.0);
                let high = (self.high(a)?, self.high(b)?);
                Ok(self.high_sum(opcode, low, high))
            }
            And | Or | Xor => {
                let opcode = match op {
                    And => Opcode::And,
                    Or => Opcode::Or,
                    _ => Opcode::Xor,
                };
                let (a, b) = (self.high(a)?, self.high(b)?);
                Ok(self.sum(opcode, a, b))
            }
            Imul => Ok(self.wide_product(a, b)?.1),
            Shl | Lshr | Ashr if self.known(b).is_none() => Ok(self.wide_shifted(op, a, b)?.1),
            Shl => match self.shift(b)? {
                0 => self.high(a),
                amount @ 1..32 => {
                    let (low, high) = (self.word(a)?.0, self.high(a)?);
                    let up = self.shifted(Opcode::LSftS, high, amount);
                    let over = self.shifted(Opcode::Lrs, low, 32 - amount);
                    Ok(self.sum(Opcode::Or, up, over))
                }
                amount => {
                    let (low, _) = self.word(a)?;
                    Ok(self.shifted(Opcode::LSftS, low, amount - 32))
                }
            },
            Lshr | Ashr => {
                let amount = self.shift(b)?;
                let high = self.high(a)?;
                Ok(match (op, amount) {
                    (Ashr, amount) => self.shifted(Opcode::RSftS, high, amount.min(31)),
                    (_, 32..) => Operand::None,
                    (_, amount) => self.shifted(Opcode::Lrs, high, amount),
                })
            }
            Smin | Smax | Umin | Umax => {
                let truth = self.is_first(op, a, b)?;
                let (a, b) = (self.high(a)?, self.high(b)?);
                Ok(self.choose(truth, a, b))
            }
            other => self.refuse(format!("the operation {other:?} of 64 bits")),
        }
    }

    /// The high word of a sum or a difference, of its low and its high words.
    fn high_sum(
        &mut self,
        opcode: Opcode,
        low: (Operand, Operand),
        high: (Operand, Operand),
    ) -> Operand {
        // Nothing is carried where nothing is added.
        let is_same = low.1 == Operand::None || (opcode == Opcode::Add && low.0 == Operand::None);
        let whole = self.sum(opcode, low.0, low.1);
        match whole {
            Operand::Node { node, .. } if !is_same => {
                Operand::node(self.node(opcode, Options::default(), high.0, high.1, Some(node)))
            }
            _ => self.sum(opcode, high.0, high.1),
        }
    }

    /// A constant amount of a shift.
    fn shift(&mut self, amount: Value) -> Building<i32> {
        match self.known(amount).filter(|amount| (0..64).contains(amount)) {
            Some(amount) => Ok(amount as i32),
            None => self.refuse("shifts by what may be 64 and more"),
        }
    }

    fn shifted(&mut self, opcode: Opcode, word: Operand, amount: i32) -> Operand {
        match (word, amount) {
            (Operand::None, _) | (_, 0) => word,
            _ => self.op(opcode, word, Operand::Immediate(amount)),
        }
    }

    /// The low word of what is shifted right.
    pub(super) fn low_shifted(
        &mut self,
        is_signed: bool,
        a: Value,
        amount: Value,
    ) -> Building<Operand> {
        if self.known(amount).is_none() {
            let op = if is_signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
            return Ok(self.wide_shifted(op, a, amount)?.0);
        }
        let amount = self.shift(amount)?;
        let (low, high) = (self.word(a)?.0, self.high(a)?);
        Ok(match amount {
            0 => low,
            1..32 => {
                let down = self.shifted(Opcode::Lrs, low, amount);
                let over = self.shifted(Opcode::LSftS, high, 32 - amount);
                self.sum(Opcode::Or, down, over)
            }
            _ if is_signed => self.shifted(Opcode::RSftS, high, amount - 32),
            _ => self.shifted(Opcode::Lrs, high, amount - 32),
        })
    }

    /// Both words of what is shifted by an amount that is not constant: within words, or from one to the other.
    pub(super) fn wide_shifted(
        &mut self,
        op: BinaryOp,
        a: Value,
        amount: Value,
    ) -> Building<(Operand, Operand)> {
        if !self.ranges.fits(amount, 0, 63) {
            return self.refuse("shifts by what may be 64 and more");
        }
        let n = self.extended(amount, false)?;
        let (low, high) = (self.word(a)?.0, self.high(a)?);
        let far = self.node(Opcode::And, Options::default(), n, Operand::Immediate(32), None);
        let is_far = Truth::Bit { node: far, inverted: true };
        // Amounts count modulo 32. What goes over is shifted by 32 less the amount: by one, and by the rest.
        let rest = self.op(Opcode::Xor, n, Operand::Immediate(31));
        let mut by = |opcode: Opcode, word: Operand, amount: Operand| match word {
            Operand::None => word,
            _ => self.op(opcode, word, amount),
        };
        let one = Operand::Immediate(1);
        if op == BinaryOp::Shl {
            let (up, above) = (by(Opcode::LSftS, low, n), by(Opcode::LSftS, high, n));
            let over = by(Opcode::Lrs, low, one);
            let over = by(Opcode::Lrs, over, rest);
            let near = self.sum(Opcode::Or, above, over);
            return Ok((self.choose(is_far, Operand::None, up), self.choose(is_far, up, near)));
        }
        let (shift, sign) = match op {
            BinaryOp::Ashr => (Opcode::RSftS, by(Opcode::RSftS, high, Operand::Immediate(31))),
            _ => (Opcode::Lrs, Operand::None),
        };
        let (down, below) = (by(shift, high, n), by(Opcode::Lrs, low, n));
        let over = by(Opcode::LSftS, high, one);
        let over = by(Opcode::LSftS, over, rest);
        let near = self.sum(Opcode::Or, below, over);
        Ok((self.choose(is_far, down, near), self.choose(is_far, sign, down)))
    }

    fn wide_factor(&mut self, value: Value) -> Building<Factor> {
        let is_signed = self.is_word(value);
        let high = match is_signed || self.ranges.fits(value, 0, u32::MAX.into()) {
            true => None,
            false => Some(self.high(value)?),
        };
        let is_half = match is_signed {
            true => self.ranges.fits(value, -(1 << 15), (1 << 15) - 1),
            false => false,
        };
        Ok(Factor { word: self.word(value)?.0, is_signed, is_half, high })
    }

    /// Both words of a product. What high words add goes to the high one.
    pub(super) fn wide_product(&mut self, a: Value, b: Value) -> Building<(Operand, Operand)> {
        let (mut x, mut y) = (self.wide_factor(a)?, self.wide_factor(b)?);
        if x.is_half {
            std::mem::swap(&mut x, &mut y);
        }
        let mut part = |high1: bool, high2: bool| {
            // The low halves have no sign, but for that of a number that has no more than one.
            let options = Options {
                high1,
                high2,
                unsigned1: !(high1 && x.is_signed),
                unsigned2: !((high2 || y.is_half) && y.is_signed),
                ..Options::default()
            };
            Operand::node(self.node(Opcode::MultS, options, x.word, y.word, None))
        };
        let low = part(false, false);
        if y.is_half {
            let up = part(true, false);
            let high = self.op(Opcode::RSftS, low, Operand::Immediate(31));
            let (low, high) = self.with_middle(low, high, up, x.is_signed || y.is_signed);
            return Ok((low, self.with_high_words(high, &x, &y)));
        }
        let (up, other, high) = (part(true, false), part(false, true), part(true, true));
        let (low, high) = self.with_middle(low, high, up, x.is_signed);
        let (low, high) = self.with_middle(low, high, other, y.is_signed);
        Ok((low, self.with_high_words(high, &x, &y)))
    }

    /// A high word of a product with the products of high words by low ones.
    fn with_high_words(&mut self, high: Operand, x: &Factor, y: &Factor) -> Operand {
        let products = [(x.high, y.word), (y.high, x.word)];
        products.into_iter().fold(high, |high, (of, by)| match of {
            None | Some(Operand::None) => high,
            Some(of) => {
                let product = self.low_product(of, by);
                self.sum(Opcode::Add, high, product)
            }
        })
    }

    /// The low word of a product of two words.
    fn low_product(&mut self, x: Operand, y: Operand) -> Operand {
        for (factor, other) in [(x, y), (y, x)] {
            match factor {
                Operand::None => return Operand::None,
                Operand::Immediate(known) if (known as u32).is_power_of_two() => {
                    return self.shifted(Opcode::LSftS, other, known.trailing_zeros() as i32);
                }
                _ => {}
            }
        }
        let mut part = |high1, high2| {
            let (unsigned1, unsigned2) = (true, true);
            let options = Options { high1, high2, unsigned1, unsigned2, ..Options::default() };
            Operand::node(self.node(Opcode::MultS, options, x, y, None))
        };
        let (low, up, other) = (part(false, false), part(true, false), part(false, true));
        let middle = self.sum(Opcode::Add, up, other);
        let above = self.op(Opcode::LSftS, middle, Operand::Immediate(16));
        self.sum(Opcode::Add, low, above)
    }

    /// Both words of a sum with a word that is shifted left by 16.
    fn with_middle(
        &mut self,
        low: Operand,
        high: Operand,
        middle: Operand,
        is_signed: bool,
    ) -> (Operand, Operand) {
        let sixteen = Operand::Immediate(16);
        let below = self.op(Opcode::LSftS, middle, sixteen);
        let above = if is_signed { Opcode::RSftS } else { Opcode::Lrs };
        let above = self.op(above, middle, sixteen);
        let whole = self.sum(Opcode::Add, low, below);
        (whole, self.high_sum(Opcode::Add, (low, below), (high, above)))
    }

    /// Whether the first of two values is the smaller or larger one.
    pub(super) fn is_first(&mut self, op: BinaryOp, a: Value, b: Value) -> Building<Truth> {
        let cond = match op {
            BinaryOp::Smin => IntCond::Slt,
            BinaryOp::Smax => IntCond::Sgt,
            BinaryOp::Umin => IntCond::Ult,
            _ => IntCond::Ugt,
        };
        self.wide_compare(cond, a, b)
    }

    /// A comparison of values of 64 bits.
    pub(super) fn wide_compare(&mut self, cond: IntCond, a: Value, b: Value) -> Building<Truth> {
        use IntCond::*;
        let (a, b, inverted) = match cond {
            Slt | Ult => (a, b, true),
            Sge | Uge | Eq | Ne => (a, b, false),
            Sgt | Ugt => (b, a, true),
            Sle | Ule => (b, a, false),
        };
        let (low, high) = ((self.word(a)?.0, self.word(b)?.0), (self.high(a)?, self.high(b)?));
        if matches!(cond, Eq | Ne) {
            let low = self.sum(Opcode::Xor, low.0, low.1);
            let high = self.sum(Opcode::Xor, high.0, high.1);
            let node = self.node(Opcode::Or, Options::default(), low, high, None);
            return Ok(Truth::Bit { node, inverted: cond == Ne });
        }
        let mut turned = |high: Operand| match (cond, high) {
            (Ult | Ule | Ugt | Uge, high) => high,
            (_, Operand::None) => Operand::Immediate(i32::MIN),
            (_, Operand::Immediate(known)) => Self::immediate(known ^ i32::MIN),
            (_, high) => self.op(Opcode::Xor, high, Operand::Immediate(i32::MIN)),
        };
        let high = (turned(high.0), turned(high.1));
        // The bit of a difference says that nothing was borrowed.
        let low = self.node(Opcode::Sub, Options::default(), low.0, low.1, None);
        let node = self.node(Opcode::Sub, Options::default(), high.0, high.1, Some(low));
        Ok(Truth::Bit { node, inverted })
    }
}
