//! Subscripts that grow by no constant, but are known to be within limits before the loop: those that some
//! iterations let grow, as of `peaks[count++]` under a condition, and those that begin again at an end, as of
//! a ring of samples. The core asks for the limits ([`crate::arrays::versions::version`]), unless they are looked
//! at behind the loop, as nobody knows how often a subscript grows.

use std::collections::BTreeMap;

use nbcc_analysis::Affine;
use nbcc_ir::{BinaryOp, Block, Extent, IntCond, Mem, Op, Terminator, Type, Value, ValueDef};

use super::build::Builder;

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 24;

/// What an iteration adds at most.
const MAX_STEP: i64 = 1 << 20;

/// Between which elements a subscript stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limits {
    /// An iteration adds up to as much to what it begins with, and it is from `least` to `most` more.
    Grown {
        /// What it begins with.
        start: Affine,
        /// What an iteration adds, or takes, at most.
        step: i32,
        /// In all iterations.
        least: i32,
        /// In all iterations.
        most: i32,
    },
    /// It begins within limits, and stays there.
    Round {
        /// What it begins with.
        start: Affine,
        /// One more than the greatest.
        end: Affine,
    },
}

/// A parameter of the header, and how much a value is more than that, at least and at most.
type Growth = Option<(Value, i64, i64)>;

impl Builder<'_> {
    /// The limits of a subscript.
    pub(super) fn limits(&self, index: Value) -> Option<Limits> {
        if self.func.ty(index) != Type::I32 {
            return None;
        }
        self.grown(index).or_else(|| self.round(index))
    }

    /// Whether limits say enough: those of what grows in some iterations only are asked for as if it grew in
    /// all, which may never hold, as of `y[o++]` every eight iterations with an eighth of the elements.
    pub(super) fn surely(&self, limits: &Limits, mem: Mem) -> bool {
        let Limits::Grown { start, step, least, most } = limits else { return true };
        let (Extent::Fixed(count), Some(trips), Some(start)) =
            (&self.func.mems[mem].extents[0], self.evolutions.trips(), start.as_constant())
        else {
            return false;
        };
        let all = i64::from(*step) * i64::from(trips.saturating_sub(1));
        let low = i64::from(start) + i64::from(*least) + all.min(0);
        let high = i64::from(start) + i64::from(*most) + all.max(0);
        low >= 0 && high < i64::from(*count)
    }

    fn number(&self, param: Value) -> Option<usize> {
        self.func.blocks[self.shape.header].params.iter().position(|&other| other == param)
    }

    fn grown(&self, index: Value) -> Option<Limits> {
        let mut known = BTreeMap::new();
        let (param, least, most) = self.growth(index, &mut known, MAX_FOLLOWED)?;
        let number = self.number(param)?;
        let (own, down, up) =
            self.growth(self.shape.back_args[number], &mut known, MAX_FOLLOWED)?;
        let step = match (down, up) {
            (0.., up) => up,
            (down, ..=0) => down,
            _ => return None,
        };
        let start = self.evolutions.fixed(self.shape.entry_args[number]);
        let word = |growth: i64| i32::try_from(growth).expect("a growth up to MAX_STEP");
        let [step, least, most] = [step, least, most].map(word);
        (own == param).then_some(Limits::Grown { start, step, least, most })
    }

    fn growth(&self, value: Value, known: &mut BTreeMap<Value, Growth>, depth: u32) -> Growth {
        if let Some(&growth) = known.get(&value) {
            return growth;
        }
        let of = |this: &Self, known: &mut BTreeMap<Value, Growth>, ways: &[Value]| -> Growth {
            let (&first, others) = ways.split_first()?;
            others.iter().try_fold(this.growth(first, known, depth - 1)?, |all, &way| {
                let (param, least, most) = this.growth(way, known, depth - 1)?;
                (param == all.0).then_some((param, all.1.min(least), all.2.max(most)))
            })
        };
        let growth = match self.func.values[value].def {
            _ if depth == 0 || !self.shape.defines(self.func, value) => None,
            ValueDef::Param(block, _) if block == self.shape.header => Some((value, 0, 0)),
            ValueDef::Param(block, number) => of(self, known, &self.args(block, number)),
            ValueDef::Result(inst, _) => match self.func.insts[inst].op {
                Op::Select(_, a, b) => of(self, known, &[a, b]),
                Op::Binary(op @ (BinaryOp::Iadd | BinaryOp::Isub), a, b) => {
                    self.more(op, a, b, known, depth - 1)
                }
                _ => None,
            },
        };
        let growth = growth.filter(|&(_, least, most)| least >= -MAX_STEP && most <= MAX_STEP);
        known.insert(value, growth);
        growth
    }

    /// The growth of a sum with what has a range.
    fn more(
        &self,
        op: BinaryOp,
        a: Value,
        b: Value,
        known: &mut BTreeMap<Value, Growth>,
        depth: u32,
    ) -> Growth {
        let mut one = |moving: Value, by: Value| {
            let (least, most) = self.ranges.of(by);
            if least < -MAX_STEP || most > MAX_STEP {
                return None;
            }
            let (param, low, high) = self.growth(moving, known, depth)?;
            Some(match op {
                BinaryOp::Iadd => (param, low + least, high + most),
                _ => (param, low - most, high - least),
            })
        };
        match op {
            BinaryOp::Iadd => one(a, b).or_else(|| one(b, a)),
            _ => one(a, b),
        }
    }

    fn round(&self, index: Value) -> Option<Limits> {
        let mut end = None;
        let param = self.ring(index, &mut end, MAX_FOLLOWED)?;
        let number = self.number(param)?;
        let own = self.ring(self.shape.back_args[number], &mut end, MAX_FOLLOWED)?;
        let start = self.evolutions.fixed(self.shape.entry_args[number]);
        Some(Limits::Round { start, end: end.filter(|_| own == param)? })
    }

    /// The parameter of the header that a value is, or is but for steps that begin again at an end.
    fn ring(&self, value: Value, end: &mut Option<Affine>, depth: u32) -> Option<Value> {
        if depth == 0 || !self.shape.defines(self.func, value) {
            return None;
        }
        let (cond, then, other) = match self.func.values[value].def {
            ValueDef::Param(block, _) if block == self.shape.header => return Some(value),
            ValueDef::Param(block, number) => self.fork(block, number)?,
            ValueDef::Result(inst, _) => match self.func.insts[inst].op {
                Op::Select(cond, then, other) => (cond, then, other),
                _ => return None,
            },
        };
        let Some(&Op::Icmp(cond, a, b)) = self.func.def_op(cond) else { return None };
        let is_fixed = |value: Value| {
            !self.shape.defines(self.func, value) || self.func.splat_constant(value).is_some()
        };
        let (cond, asked, limit) = match (is_fixed(a), is_fixed(b)) {
            (false, true) => (cond, a, b),
            (true, false) => (cond.swapped(), b, a),
            _ => return None,
        };
        let (cond, again, on) = match (is_fixed(then), is_fixed(other)) {
            (true, false) => (cond, then, other),
            (false, true) => (cond.negated(), other, then),
            _ => return None,
        };
        let ((from, step), (seen, plus)) = (self.apart(on), self.apart(asked));
        if from != seen {
            return None;
        }
        let limit = self.evolutions.fixed(limit).plus(&Affine::constant(plus), -1);
        let is_zero = self.func.splat_constant(again) == Some(0);
        let more = |by: i32| limit.plus(&Affine::constant(by), 1);
        let found = match (cond, step) {
            (IntCond::Eq, 1) | (IntCond::Sge | IntCond::Uge, 1..) if is_zero => more(step),
            (IntCond::Sgt | IntCond::Ugt, 1..) if is_zero => more(step + 1),
            (IntCond::Eq | IntCond::Sle, -1) if limit.as_constant() == Some(0) => {
                self.behind(again)
            }
            (IntCond::Slt, -1) if limit.as_constant() == Some(1) => self.behind(again),
            _ => return None,
        };
        if *end.get_or_insert_with(|| found.clone()) != found {
            return None;
        }
        self.ring(from, end, depth - 1)
    }

    /// One more than a value from before the loop.
    fn behind(&self, value: Value) -> Affine {
        self.evolutions.fixed(value).plus(&Affine::constant(1), 1)
    }

    /// A value and a constant, whose sum another one is.
    fn apart(&self, mut value: Value) -> (Value, i32) {
        let mut sum = 0i64;
        while let Some(&Op::Binary(op @ (BinaryOp::Iadd | BinaryOp::Isub), a, b)) =
            self.func.def_op(value)
        {
            let Some(by) = self.func.splat_constant(b) else { break };
            let by = i64::from(by as u32 as i32);
            let more = if op == BinaryOp::Iadd { sum + by } else { sum - by };
            if more.abs() > MAX_STEP {
                break;
            }
            (value, sum) = (a, more);
        }
        (value, i32::try_from(sum).expect("a sum up to MAX_STEP"))
    }

    /// What a parameter of a block is if a condition holds, and if it does not, where that alone decides.
    fn fork(&self, block: Block, number: u32) -> Option<(Value, Value, Value)> {
        let mut found = Vec::new();
        for &from in self.shape.blocks.iter().filter(|&&from| from != self.shape.latch) {
            for (way, to) in self.func.terminator(from).successors().into_iter().enumerate() {
                if to.block != block {
                    continue;
                }
                let (cond, holds) = match self.func.terminator(from) {
                    Terminator::Branch(cond, ..) => (*cond, way == 0),
                    Terminator::Jump(_) => self.decides(from)?,
                    _ => return None,
                };
                found.push((cond, holds, to.args[number as usize]));
            }
        }
        match found[..] {
            [(cond, true, then), (other_cond, false, other)]
            | [(cond, false, other), (other_cond, true, then)]
                if cond == other_cond =>
            {
                Some((cond, then, other))
            }
            _ => None,
        }
    }

    /// The condition under which the one block that leads to a block does so.
    fn decides(&self, block: Block) -> Option<(Value, bool)> {
        let leads = |&&from: &&Block| {
            let successors = self.func.terminator(from).successors();
            from != self.shape.latch && successors.iter().any(|to| to.block == block)
        };
        let mut before = self.shape.blocks.iter().filter(leads);
        let only = before.next().filter(|_| before.next().is_none())?;
        match self.func.terminator(*only) {
            Terminator::Branch(cond, then, other) if then.block != other.block => {
                Some((*cond, then.block == block))
            }
            _ => None,
        }
    }
}
