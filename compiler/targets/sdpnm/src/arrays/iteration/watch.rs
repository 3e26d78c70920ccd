//! Subscripts of which nobody knows before whether they are inside: those that are known on the way only,
//! and those that are outside in iterations in which nobody asks for them. An access takes the last element
//! instead where they are not, and the greatest subscript of all iterations is asked for behind the loop: if
//! that was outside, the core's version runs from the start, and ends the run where it has to. It comes to
//! the same place, since the loop loads nothing of what it stores to.

use nbcc_analysis::Affine;
use nbcc_ir::{
    BinaryOp, Block, Extent, Function, Mem, Op, Storage, Terminator, UnaryOp, Value, ValueDef,
};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::{Global, Operand};
use super::build::{Builder, Building};
use crate::arrays::facts::access::{Access, Subscript};
use crate::arrays::facts::shape::Shape;

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 12;

/// The smaller or larger of two numbers without signs.
fn extreme(larger: bool) -> Options {
    Options { larger, unsigned1: true, ..Options::default() }
}

/// Whether a loop stores nothing to what it loads: it may then run again from the start.
pub(crate) fn may_run_again(func: &Function, shape: &Shape) -> bool {
    let insts = || shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let accessed = |is_store: bool| {
        insts().filter_map(move |&inst| match func.insts[inst].op {
            Op::Load(_, mem, _) if !is_store => Some(mem),
            Op::Store(mem, ..) if is_store => Some(mem),
            _ => None,
        })
    };
    let is_same = |one: Mem, other: Mem| {
        let [a, b] = [one, other].map(|mem| func.mems[mem].storage);
        one == other || a == b && matches!(a, Storage::Object(_))
    };
    accessed(true).all(|stored| !accessed(false).any(|loaded| is_same(stored, loaded)))
}

impl Builder<'_> {
    /// Whether subscripts of an object may be looked at behind the loop.
    pub(super) fn may_watch(&self, mem: Mem) -> bool {
        let is_empty = matches!(self.func.mems[mem].extents[0], Extent::Fixed(0));
        !is_empty && may_run_again(self.func, self.shape)
    }

    /// Whether an access may be outside in iterations that do not run its block: that is asked of what
    /// loops count, as at the borders of a picture.
    pub(super) fn is_guarded(&self, block: Block, index: Value, mem: Mem) -> bool {
        let evolution = self.evolutions.in_nest(index);
        let reach = || {
            let of = evolution.as_ref()?;
            let mut ends = of.reach(self.evolutions.trips()?)?;
            let constant = i64::from(of.start.constant);
            ends = (ends.0 + constant, ends.1 + constant);
            for &(value, factor) in &of.start.terms {
                let (low, high) = self.ranges.of(value);
                let of = [low, high].map(|end| end.saturating_mul(factor.into()));
                ends.0 = ends.0.saturating_add(of[0].min(of[1]));
                ends.1 = ends.1.saturating_add(of[0].max(of[1]));
            }
            Some(ends)
        };
        let is_inside = match self.func.mems[mem].extents[0] {
            Extent::Fixed(count) => {
                let last = i64::from(count) - 1;
                let is_known = reach().is_some_and(|(least, most)| least >= 0 && most <= last);
                is_known || self.ranges.fits(index, 0, last)
            }
            _ => false,
        };
        let leads = |from| self.shape.leads(self.func, from, block, self.shape.header);
        let asks = |&from: &Block| match self.func.terminator(from) {
            Terminator::Branch(cond, then, other) if from != self.shape.latch => {
                self.is_asked(*cond, MAX_FOLLOWED) && leads(then.block) != leads(other.block)
            }
            _ => false,
        };
        !is_inside && !self.is_always(block) && self.shape.blocks.iter().any(asks)
    }

    /// Whether a truth value says where what loops count is.
    fn is_asked(&self, cond: Value, depth: u32) -> bool {
        if depth == 0 || !self.shape.defines(self.func, cond) {
            return false;
        }
        match self.func.def_op(cond) {
            Some(&Op::Icmp(_, a, b)) => [a, b].iter().all(|&word| self.is_counted(word, depth - 1)),
            Some(&Op::Unary(UnaryOp::Not, a)) => self.is_asked(a, depth - 1),
            Some(&Op::Binary(BinaryOp::And | BinaryOp::Or, a, b)) => {
                self.is_asked(a, depth - 1) || self.is_asked(b, depth - 1)
            }
            _ => false,
        }
    }

    /// Whether a word is a sum of what loops count and of what they do not change.
    fn is_counted(&self, word: Value, depth: u32) -> bool {
        if !self.shape.defines(self.func, word) || self.evolutions.in_nest(word).is_some() {
            return true;
        }
        if depth == 0 || matches!(self.func.values[word].def, ValueDef::Param(..)) {
            return false;
        }
        match self.func.def_op(word) {
            Some(&Op::Binary(BinaryOp::Iadd | BinaryOp::Isub | BinaryOp::Imul, a, b)) => {
                self.is_counted(a, depth - 1) && self.is_counted(b, depth - 1)
            }
            Some(&Op::Binary(BinaryOp::Shl, a, _)) => self.is_counted(a, depth - 1),
            Some(&Op::Convert(_, a, _)) => self.is_counted(a, depth - 1),
            Some(Op::Const(..)) => true,
            _ => false,
        }
    }

    /// The subscript of an access, or the last one where that is outside.
    pub(super) fn watched(&mut self, access: &Access, value: Value) -> Building<Operand> {
        let index = self.see(access, value)?;
        let last = match self.func.mems[access.mem].extents[0] {
            Extent::Fixed(count) => Self::immediate(count as i32 - 1),
            _ => self.global(Global::Last(access.mem)),
        };
        let node = self.node(Opcode::Cmp, extreme(false), index, last, None);
        Ok(Operand::node(node))
    }

    /// Notes the subscript of an access where it runs; the subscript.
    fn see(&mut self, access: &Access, value: Value) -> Building<Operand> {
        let index = self.extended(value, true)?;
        // Nobody loads where the block does not run.
        let seen = match self.predicate(access.block)? {
            None => index,
            Some(truth) => self.choose(truth, index, Operand::None),
        };
        self.watched.entry(Some(access.mem)).or_default().push(seen);
        Ok(index)
    }

    /// Notes the subscripts of loads of which nobody reads what they load, and of stores that are left out: these
    /// end the run as well.
    pub(super) fn see_unread(&mut self) -> Building<()> {
        for number in 0..self.accesses.len() {
            let access = self.accesses[number].clone();
            if let (Subscript::Watched(value), None) = (&access.subscript, access.node) {
                self.see(&access, *value)?;
            }
        }
        Ok(())
    }

    /// Puts out the greatest subscripts of all iterations, in global registers.
    pub(super) fn watch(&mut self) -> Vec<(Option<Mem>, usize)> {
        let mut watches = Vec::new();
        for (mem, mut words) in std::mem::take(&mut self.watched) {
            words.sort_unstable();
            words.dedup();
            while let [a, b, ..] = words[..] {
                words.drain(..2);
                words.push(Operand::node(self.node(Opcode::Cmp, extreme(true), a, b, None)));
            }
            // Where the loop runs in parts, counters begin elsewhere than at 0, each part's greatest does not.
            let initial = match self.evolutions.trips() {
                Some(_) => self.global_of(Global::Form(Affine::default(), 1)),
                None => self.global_of(Global::Constant(0)),
            };
            let node = self.fresh(Opcode::Cmp, extreme(true), Operand::None, words[0], None);
            self.body.globals.push(Global::Export);
            let number = self.body.globals.len() - 1;
            let kept = &mut self.body.nodes[node];
            kept.in1 = Operand::Node { node, distance: 1 };
            (kept.initial, kept.export) = (Some(initial), Some(number));
            watches.push((mem, number));
        }
        watches
    }
}
