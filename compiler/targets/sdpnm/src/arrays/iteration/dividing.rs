//! Quotients and remainders of words that a loop divides by what it computes: a bit of the quotient at a time, four
//! operations each (restoring division: Knuth, "The Art of Computer Programming", volume 2, section 4.3.1, in
//! base 2). As many bits are made as the ranges of both leave. A sum of a word with itself hands on its highest bit as a
//! carry and takes the quotient's last bit as one; a difference that borrows is greater than what it was made of, so
//! that the smaller one of both is what is left. Divisors that may be 0 are looked at behind the loop.

use nbcc_ir::{BinaryOp, Block, Value};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::Operand;
use super::build::{Builder, Building, Truth};
use super::watch::may_run_again;

/// Bits of the quotient after which what all of them read is handed on, so that nothing waits long.
const HANDED_ON: u32 = 4;

/// Whether a division has signs, and whether it makes a remainder.
fn kind(op: BinaryOp) -> Option<(bool, bool)> {
    match op {
        BinaryOp::Sdiv => Some((true, false)),
        BinaryOp::Srem => Some((true, true)),
        BinaryOp::Udiv => Some((false, false)),
        BinaryOp::Urem => Some((false, true)),
        _ => None,
    }
}

impl Builder<'_> {
    /// Whether a division in a block can be done: where its divisor may be 0, the loop must be one that may run
    /// again.
    pub(super) fn divides(&mut self, block: Block, op: BinaryOp, result: Value, by: Value) -> bool {
        if kind(op).is_none() || self.func.ty(result) != nbcc_ir::Type::I32 {
            return false;
        }
        let (least, most) = self.ranges.at(by, block);
        if least > 0 || most < 0 {
            return true;
        }
        self.divisors.push((block, by));
        may_run_again(self.func, self.shape)
    }

    /// Notes where a divisor is 0.
    pub(super) fn see_divisors(&mut self) -> Building<()> {
        for (block, by) in std::mem::take(&mut self.divisors) {
            let (by, _) = self.word(by)?;
            let node = self.node(Opcode::Xor, Options::default(), by, Operand::None, None);
            let is_zero = self.word_of(Truth::Bit { node, inverted: false });
            let seen = match self.predicate(block)? {
                None => is_zero,
                Some(truth) => self.choose(truth, is_zero, Operand::None),
            };
            self.watched.entry(None).or_default().push(seen);
        }
        Ok(())
    }

    /// The quotient or the remainder of two words.
    pub(super) fn divided(&mut self, op: BinaryOp, a: Value, b: Value) -> Building<Operand> {
        let Some((signed, is_rest)) = kind(op) else { return self.refuse(format!("{op:?}")) };
        // The greatest magnitude of the one, the least of the other.
        let words = if signed { i32::MAX.into() } else { u32::MAX.into() };
        let least = if signed { i32::MIN.into() } else { 0 };
        let of = |value: Value| match self.ranges.of(value) {
            (low, high) if low >= 0 && high <= i32::MAX.into() => (low, high),
            (low, high) if signed && low >= least && high <= words => (low, high),
            _ => (least, words),
        };
        let ((low, high), by) = (of(a), of(b));
        let most = low.unsigned_abs().max(high.unsigned_abs()).max(1);
        let smallest = if by.0 > 0 { by.0 } else { (-by.1).max(1) };
        let bits = u64::BITS - most.leading_zeros();
        // The first bits of the quotient are 0.
        let none = (u64::BITS - 1 - smallest.leading_zeros()).min(bits - 1);
        let ((number, sign), (mut by, by_sign)) =
            (self.magnitude(a, signed && low < 0)?, self.magnitude(b, signed && by.0 < 0)?);

        let zeros = |this: &mut Self, opcode, word, amount: u32| match amount {
            0 => word,
            amount => this.op(opcode, word, Operand::Immediate(amount as i32)),
        };
        let mut left = match none {
            0 => Operand::None,
            none => zeros(self, Opcode::Lrs, number, bits - none),
        };
        let mut digits = zeros(self, Opcode::LSftS, number, 32 - bits + none);
        let mut signs = [sign, by_sign];
        let mut last = None;
        for bit in 0..bits - none {
            if bit > 0 && bit % HANDED_ON == 0 {
                by = self.handed_on(by);
                signs = signs.map(|sign| sign.map(|sign| self.handed_on(sign)));
            }
            let options = Options::default();
            let next = self.node(Opcode::Add, options, digits, digits, last);
            digits = Operand::node(next);
            let more = Operand::node(self.node(Opcode::Add, options, left, left, Some(next)));
            let less = self.node(Opcode::Sub, options, more, by, None);
            last = Some(less);
            let smaller = Options { unsigned1: true, ..options };
            let rest = self.node(Opcode::Cmp, smaller, Operand::node(less), more, None);
            left = Operand::node(rest);
        }
        let (found, sign) = match (is_rest, signs) {
            (true, [sign, _]) => (left, sign),
            (false, signs) => {
                let quotient = self.node(Opcode::Add, Options::default(), digits, digits, last);
                let sign = match signs {
                    [Some(a), Some(b)] => Some(self.op(Opcode::Xor, a, b)),
                    [a, b] => a.or(b),
                };
                (Operand::node(quotient), sign)
            }
        };
        Ok(match sign {
            None => found,
            Some(sign) => self.negated_by(found, sign),
        })
    }

    /// The magnitude of a word, and the word that is all its sign.
    fn magnitude(&mut self, value: Value, signed: bool) -> Building<(Operand, Option<Operand>)> {
        let (word, _) = self.word(value)?;
        if !signed {
            return Ok((word, None));
        }
        let sign = self.op(Opcode::RSftS, word, Operand::Immediate(31));
        Ok((self.negated_by(word, sign), Some(sign)))
    }

    /// A word, or its negative one where a sign is -1.
    fn negated_by(&mut self, word: Operand, sign: Operand) -> Operand {
        let turned = self.op(Opcode::Xor, word, sign);
        self.op(Opcode::Sub, turned, sign)
    }

    /// The same word later.
    fn handed_on(&mut self, word: Operand) -> Operand {
        match word {
            Operand::Node { .. } => self.op(Opcode::Pass, word, Operand::None),
            _ => word,
        }
    }
}
