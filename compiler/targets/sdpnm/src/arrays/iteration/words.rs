//! Operations of the IR covered by those of PEs. Words have 32 bits; above a narrow value anything may
//! stand. What differs from the IR's meaning for some operands is refused.

use nbcc_analysis::Affine;
use nbcc_ir::{BinaryOp, ConvertOp, Inst, IntCond, IntrinsicCall, Op, Scalar, UnaryOp, Value};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::{Global, Operand};
use super::build::{Builder, Building, Truth};
use super::turns::{FIRST, LAST, Walk, counts};
use crate::narrow::Upper;

impl Builder<'_> {
    /// The word that an instruction makes.
    pub(super) fn operation(&mut self, inst: Inst, result: Value) -> Building<(Operand, Upper)> {
        let func = self.func;
        let bits = func.ty(result).scalar.bits();
        match func.insts[inst].op.clone() {
            Op::Load(..) => self.load(inst, result),
            Op::Unary(UnaryOp::Ineg, a) => {
                let (a, _) = self.word(a)?;
                Ok((self.op(Opcode::Sub, Operand::None, a), above(bits)))
            }
            Op::Unary(UnaryOp::Not, a) => {
                let (a, _) = self.word(a)?;
                Ok((self.op(Opcode::Xor, a, Operand::Immediate(-1)), above(bits)))
            }
            Op::Binary(op, a, b) => self.binary(op, a, b, result),
            Op::Select(cond, a, b) => {
                let truth = self.truth(cond)?;
                let ((a, x), (b, y)) = (self.word(a)?, self.word(b)?);
                let upper = if x == y { x } else { above(bits) };
                Ok((self.choose(truth, a, b), upper))
            }
            Op::Convert(op, a, _) => self.convert(op, a, result),
            other => match Walk::of(func, result) {
                Some((walk, constant)) => {
                    let start = self.evolutions.fixed(walk.start);
                    let start = start.plus(&Affine::constant(constant), 1);
                    let sum = self.walk(&walk, &start, 1, |form| Global::Form(form, 1))?;
                    Ok((sum, Upper::Both))
                }
                None => self.refuse(name_of(&other)),
            },
        }
    }

    pub(super) fn convert(
        &mut self,
        op: ConvertOp,
        a: Value,
        result: Value,
    ) -> Building<(Operand, Upper)> {
        let (from, to) = (self.func.ty(a).scalar, self.func.ty(result).scalar);
        match op {
            ConvertOp::Truncate => {
                let (word, _) = self.word(a)?;
                let most = (1i64 << (to.bits() - 1)) - 1;
                let upper = match to.bits() {
                    32.. => Upper::Both,
                    _ if from.bits() == 32 && self.ranges.fits(a, 0, most) => Upper::Both,
                    _ if from.bits() == 32 && self.ranges.fits(a, -most - 1, most) => Upper::Signs,
                    _ => Upper::Any,
                };
                Ok((word, upper))
            }
            ConvertOp::ZeroExtend | ConvertOp::SignExtend if from == Scalar::I1 => {
                let truth = self.truth(a)?;
                let word = match op {
                    ConvertOp::ZeroExtend => self.word_of(truth),
                    _ => self.choose(truth, Operand::Immediate(-1), Operand::None),
                };
                Ok((word, if op == ConvertOp::ZeroExtend { Upper::Both } else { Upper::Signs }))
            }
            ConvertOp::ZeroExtend | ConvertOp::SignExtend => {
                let signed = op == ConvertOp::SignExtend;
                // From 32 to 64 bits the low word is the same.
                let word = self.extended(a, signed)?;
                Ok((word, if signed { Upper::Signs } else { Upper::Zeros }))
            }
            other => self.refuse(format!("the conversion {other:?}")),
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        result: Value,
    ) -> Building<(Operand, Upper)> {
        use BinaryOp::*;
        let bits = self.func.ty(result).scalar.bits();
        let is_low = bits == 64 && !self.is_word(result);
        let simple = match op {
            Iadd => Some(Opcode::Add),
            Isub => Some(Opcode::Sub),
            And => Some(Opcode::And),
            Or => Some(Opcode::Or),
            Xor => Some(Opcode::Xor),
            _ => None,
        };
        if let Some(opcode) = simple {
            let ((x, u), (y, v)) = (self.word(a)?, self.word(b)?);
            let upper = match opcode {
                _ if bits >= 32 => Upper::Both,
                Opcode::Add | Opcode::Sub => Upper::Any,
                _ if u == v => u,
                Opcode::And if u.has(false) || v.has(false) => Upper::Zeros,
                _ if u.has(true) && v.has(true) => Upper::Signs,
                _ if u.has(false) && v.has(false) => Upper::Zeros,
                _ => Upper::Any,
            };
            return Ok((self.sum(opcode, x, y), upper));
        }
        match op {
            Imul if is_low && self.has_words(a, b) => Ok((self.wide_product(a, b)?.0, Upper::Both)),
            Imul => Ok((self.product(a, b, 0)?, above(bits))),
            Shl => {
                let (x, _) = self.word(a)?;
                match self.known(b) {
                    Some(0) => Ok((x, above(bits))),
                    // Of 64 bits only the low word counts.
                    Some(amount) if amount >= i64::from(bits.min(32)) => {
                        Ok((Operand::None, Upper::Both))
                    }
                    Some(amount) if amount > 0 => {
                        let amount = Operand::Immediate(amount as i32);
                        Ok((self.op(Opcode::LSftS, x, amount), above(bits)))
                    }
                    Some(_) => Ok((Operand::None, Upper::Both)),
                    None if bits == 64 && !self.ranges.fits(b, 0, 31) => {
                        Ok((self.wide_shifted(op, a, b)?.0, Upper::Both))
                    }
                    None => {
                        let amount = self.amount(b)?;
                        Ok((self.op(Opcode::LSftS, x, amount), above(bits)))
                    }
                }
            }
            Lshr | Ashr => {
                let signed = op == Ashr;
                let is_wide = match signed {
                    true => !self.is_word(a),
                    false => !self.ranges.fits(a, 0, i32::MAX.into()),
                };
                if bits == 64 && is_wide {
                    return Ok((self.low_shifted(signed, a, b)?, Upper::Both));
                }
                if let Some(shifted) = self.shifted_product(op, a, b)? {
                    return Ok((shifted, Upper::Both));
                }
                let x = self.extended(a, signed)?;
                let opcode = if signed { Opcode::RSftS } else { Opcode::Lrs };
                let upper = if signed { Upper::Signs } else { Upper::Zeros };
                match self.known(b) {
                    Some(0) => Ok((x, upper)),
                    Some(amount) if (0..32).contains(&amount) => {
                        Ok((self.op(opcode, x, Operand::Immediate(amount as i32)), upper))
                    }
                    Some(_) if signed => Ok((self.op(opcode, x, Operand::Immediate(31)), upper)),
                    Some(_) => Ok((Operand::None, Upper::Both)),
                    None if bits == 64 && !self.ranges.fits(b, 0, 31) => {
                        Ok((self.wide_shifted(op, a, b)?.0, Upper::Both))
                    }
                    None => {
                        let amount = self.amount(b)?;
                        Ok((self.op(opcode, x, amount), upper))
                    }
                }
            }
            Smin | Smax | Umin | Umax => {
                let signed = matches!(op, Smin | Smax);
                if bits == 64 && !(self.is_word(a) && self.is_word(b) && signed) {
                    let truth = self.is_first(op, a, b)?;
                    let (x, y) = (self.word(a)?.0, self.word(b)?.0);
                    return Ok((self.choose(truth, x, y), Upper::Both));
                }
                let (x, y) = (self.extended(a, signed)?, self.extended(b, signed)?);
                let options = Options {
                    larger: matches!(op, Smax | Umax),
                    unsigned1: !signed,
                    ..Options::default()
                };
                let node = self.node(Opcode::Cmp, options, x, y, None);
                Ok((Operand::node(node), if signed { Upper::Signs } else { Upper::Zeros }))
            }
            Sdiv | Srem | Udiv | Urem if bits == 32 => Ok((self.divided(op, a, b)?, Upper::Both)),
            other => self.refuse(format!("the operation {other:?}")),
        }
    }

    /// The word of a value with its sign or zeros above it.
    pub(super) fn extended(&mut self, value: Value, signed: bool) -> Building<Operand> {
        let (word, upper) = self.word(value)?;
        let bits = self.func.ty(value).scalar.bits();
        if bits == 64 && !self.is_word(value) {
            return self.refuse("values of 64 bits");
        }
        Ok(self.extend(word, upper, bits, signed))
    }

    /// Extends a word of so many bits.
    pub(super) fn extend(
        &mut self,
        word: Operand,
        upper: Upper,
        bits: u32,
        signed: bool,
    ) -> Operand {
        if bits >= 32 || upper.has(signed) {
            return word;
        }
        match (bits, signed) {
            (1, _) => word,
            (16, true) => self.op(Opcode::MultS, word, Operand::Immediate(1)),
            (16, false) => self.op(Opcode::And, word, Operand::Immediate(0xffff)),
            (bits, false) => self.op(Opcode::And, word, Operand::Immediate((1 << bits) - 1)),
            (bits, true) => {
                let amount = Operand::Immediate(32 - bits as i32);
                let up = self.op(Opcode::LSftS, word, amount);
                self.op(Opcode::RSftS, up, amount)
            }
        }
    }

    /// A sum or a bitwise operation; constants come second.
    pub(super) fn sum(&mut self, opcode: Opcode, x: Operand, y: Operand) -> Operand {
        let zero = Operand::None;
        match (opcode, x, y) {
            (Opcode::Add | Opcode::Or | Opcode::Xor | Opcode::Sub, x, y) if y == zero => x,
            (Opcode::Add | Opcode::Or | Opcode::Xor, x, y) if x == zero => y,
            (Opcode::And, x, y) if x == zero || y == zero => zero,
            (Opcode::Add | Opcode::And | Opcode::Or | Opcode::Xor, x, y) if y < x => {
                self.op(opcode, y, x)
            }
            _ => self.op(opcode, x, y),
        }
    }

    /// An amount of a shift that is less than 32.
    fn amount(&mut self, amount: Value) -> Building<Operand> {
        match self.ranges.fits(amount, 0, 31) {
            true => self.extended(amount, false),
            false => self.refuse("shifts by what may be 32 and more"),
        }
    }

    /// Whether a word has 16 bits: signed or not.
    fn half(&self, value: Value) -> Option<bool> {
        if self.ranges.fits(value, -(1 << 15), (1 << 15) - 1) {
            Some(true)
        } else {
            self.ranges.fits(value, 0, (1 << 16) - 1).then_some(false)
        }
    }

    /// A factor: a narrow one with its sign above it.
    fn factor(&mut self, value: Value) -> Building<Operand> {
        match self.func.ty(value).scalar.bits() {
            32.. => Ok(self.word(value)?.0),
            _ => self.extended(value, true),
        }
    }

    /// Whether the product of two values of 64 bits is one of words.
    fn has_words(&self, a: Value, b: Value) -> bool {
        let is_word =
            |value: Value| self.is_word(value) || self.ranges.fits(value, 0, u32::MAX.into());
        is_word(a) && is_word(b)
    }

    /// The low word of a product, of factors of 16 bits shifted right.
    fn product(&mut self, a: Value, b: Value, scale: u8) -> Building<Operand> {
        let (mut a, mut b) = (a, b);
        if self.half(a).is_some() && self.half(b).is_none() || self.known(a).is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let (x, y) = (self.factor(a)?, self.factor(b)?);
        if let (Some(first), Some(second)) = (self.half(a), self.half(b)) {
            let options =
                Options { unsigned1: !first, unsigned2: !second, scale, ..Options::default() };
            return Ok(Operand::node(self.node(Opcode::MultS, options, x, y, None)));
        }
        if let Some(known) = self.known(b) {
            let known = known as i32;
            if known == 0 {
                return Ok(Operand::None);
            }
            if (known as u32).is_power_of_two() {
                let amount = Self::immediate(known.trailing_zeros() as i32);
                return Ok(match amount {
                    Operand::None => x,
                    amount => self.op(Opcode::LSftS, x, amount),
                });
            }
        }
        let part = |this: &mut Self, high1, high2, signed2: bool| {
            let options = Options {
                high1,
                high2,
                unsigned1: true,
                unsigned2: !signed2,
                ..Options::default()
            };
            Operand::node(this.node(Opcode::MultS, options, x, y, None))
        };
        // Modulo 2^32 the halves of the high word need no sign.
        let second = self.half(b);
        let low = part(self, false, false, second.unwrap_or(false));
        let mut high = part(self, true, false, second.unwrap_or(false));
        if second.is_none() {
            let other = part(self, false, true, false);
            high = self.op(Opcode::Add, high, other);
        }
        let high = self.op(Opcode::LSftS, high, Operand::Immediate(16));
        Ok(self.op(Opcode::Add, low, high))
    }

    /// A product of halves that is shifted right, as one operation.
    fn shifted_product(&mut self, op: BinaryOp, a: Value, b: Value) -> Building<Option<Operand>> {
        let Some(&Op::Binary(BinaryOp::Imul, x, y)) = self.func.def_op(a) else { return Ok(None) };
        let Some(amount) = self.known(b).filter(|amount| (1..32).contains(amount)) else {
            return Ok(None);
        };
        let fits = match op {
            BinaryOp::Ashr => self.ranges.fits(a, i32::MIN.into(), i32::MAX.into()),
            _ => self.ranges.fits(a, 0, i32::MAX.into()),
        };
        // The range of a 32-bit product is known to be whole only if it does not wrap.
        let (p, q) = (self.half(x), self.half(y));
        let exact = p == Some(true) && q == Some(true);
        if !self.shape.defines(self.func, a) || !fits || !exact {
            return Ok(None);
        }
        if op == BinaryOp::Lshr && !self.ranges.fits(a, 0, i32::MAX.into()) {
            return Ok(None);
        }
        self.product(x, y, amount as u8).map(Some)
    }

    /// The truth value that an instruction makes.
    pub(super) fn truth_operation(&mut self, inst: Inst) -> Building<Truth> {
        match self.func.insts[inst].op.clone() {
            Op::Icmp(cond, a, b) => self.compare(cond, a, b),
            Op::Unary(UnaryOp::Not, a) => {
                let a = self.truth(a)?;
                Ok(self.not(a))
            }
            Op::Binary(op, a, b) => {
                let opcode = match op {
                    BinaryOp::And => Opcode::And,
                    BinaryOp::Or => Opcode::Or,
                    BinaryOp::Xor => Opcode::Xor,
                    other => return self.refuse(format!("{other:?} of truth values")),
                };
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                if opcode == Opcode::Xor {
                    let (a, b) = (self.word_of(a), self.word_of(b));
                    return Ok(Truth::Word(self.op(opcode, a, b)));
                }
                Ok(self.join(opcode, a, b))
            }
            Op::Select(cond, a, b) => {
                let (cond, a, b) = (self.truth(cond)?, self.truth(a)?, self.truth(b)?);
                let (a, b) = (self.word_of(a), self.word_of(b));
                Ok(Truth::Word(self.choose(cond, a, b)))
            }
            Op::Convert(ConvertOp::Truncate, a, _) => {
                let (word, _) = self.word(a)?;
                Ok(Truth::Word(self.op(Opcode::And, word, Operand::Immediate(1))))
            }
            Op::Load(..) => {
                let result = self.func.insts[inst].results[0];
                let (word, _) = self.load(inst, result)?;
                Ok(Truth::Word(self.op(Opcode::And, word, Operand::Immediate(1))))
            }
            Op::Intrinsic(IntrinsicCall { name: name @ (FIRST | LAST), args, .. }) => {
                match args[..] {
                    [iteration, mark] if counts(self.func, iteration) => {
                        self.turn(name == LAST, mark)
                    }
                    _ => self.refuse("several iterations of a nest"),
                }
            }
            other => self.refuse(name_of(&other)),
        }
    }

    fn compare(&mut self, cond: IntCond, a: Value, b: Value) -> Building<Truth> {
        use IntCond::*;
        if self.func.ty(a).scalar == Scalar::I1 {
            let (x, y) = (self.truth(a)?, self.truth(b)?);
            let (x, y) = (self.word_of(x), self.word_of(y));
            let differ = self.op(Opcode::Xor, x, y);
            return match cond {
                Ne => Ok(Truth::Word(differ)),
                Eq => Ok(self.not(Truth::Word(differ))),
                _ => self.refuse("an order of truth values"),
            };
        }
        let signed = match cond {
            Slt | Sle | Sgt | Sge => true,
            Ult | Ule | Ugt | Uge => false,
            // Either way, as long as it is the same.
            Eq | Ne => !(self.word(a)?.1.has(false) && self.word(b)?.1.has(false)),
        };
        let wide = self.func.ty(a).scalar.bits() == 64;
        // Signed words of 64 bits are in the same order without signs.
        if wide && !(self.is_word(a) && self.is_word(b)) {
            return self.wide_compare(cond, a, b);
        }
        let (x, y) = (self.extended(a, signed)?, self.extended(b, signed)?);
        if matches!(cond, Eq | Ne) {
            let node = self.node(Opcode::Xor, Options::default(), x, y, None);
            return Ok(Truth::Bit { node, inverted: cond == Ne });
        }
        // `cmp` takes in1 where it is smaller, or, of the larger, where it is not smaller.
        let (x, y, larger) = match cond {
            Slt | Ult => (x, y, false),
            Sge | Uge => (x, y, true),
            Sgt | Ugt => (y, x, false),
            _ => (y, x, true),
        };
        let options = Options { larger, unsigned1: !signed, ..Options::default() };
        Ok(Truth::Bit { node: self.node(Opcode::Cmp, options, x, y, None), inverted: false })
    }
}

/// What stands above the result of an operation that does not keep track of it.
fn above(bits: u32) -> Upper {
    if bits >= 32 { Upper::Both } else { Upper::Any }
}

/// The name of an operation that there is none for.
fn name_of(op: &Op) -> String {
    let text = format!("{op:?}");
    format!("`{}`", text.split(['(', ' ']).next().unwrap_or_default().to_lowercase())
}
