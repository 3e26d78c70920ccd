//! Loops that are left in their middle, by `break` or a condition that data decides, while another one
//! counts. Beside such a loop stands another that only an array runs: it does iterations ahead as long as
//! none leaves, and says how many these were. The core then does the iteration that leaves once more, from
//! the values that it begins with, so that all ways out are its own.
//!
//! How early a loop is left nobody knows. So the core begins, with as many iterations as cost about what
//! starting an array does; then an array does a stretch of iterations, and each stretch is twice as long as
//! the one before: what it does in vain is no more than what was done before (doubling, as in Bentley, Yao,
//! "An almost optimal algorithm for unbounded searching", Information Processing Letters 1976).

use nbcc_analysis::LoopForest;
use nbcc_ir::{
    Block, Cfg, Constant, Dominators, Function, IntCond, Op, Type, Value, ValueDef, cfg::successors,
};
use nbcc_opt::params;

use super::beside;
use crate::arrays::facts::shape::{MAX_BLOCKS, Shape, Trips};
use crate::arrays::iteration::watch::may_run_again;

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 12;

/// Iterations of a stretch at most.
pub(crate) const MAX_STRETCH: u32 = 1 << 20;

/// A loop that has another one beside it, which does iterations ahead.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    /// The header of the other one.
    pub header: Block,
    /// The block that goes on with the loop instead of it.
    pub instead: Block,
    /// How many iterations the core does first.
    pub first: Value,
    /// How many the first stretch has.
    pub stretch: Value,
}

impl Ahead {
    /// Says from how many iterations on an array is worth it, and how many it does in half the
    /// time that starting it takes.
    pub(crate) fn tune(&self, func: &mut Function, least: u32, stretch: u32) {
        for (value, number) in [(self.first, least), (self.stretch, stretch.max(least))] {
            if let Some(inst) = func.def_inst(value) {
                let number = u64::from(number.clamp(1, MAX_STRETCH));
                func.insts[inst].op = Op::Const(Type::I32, Constant::Splat(number));
            }
        }
    }
}

/// A loop that is left in several places, of which one counts.
pub(crate) struct Left {
    pub shape: Shape,
    /// The block that counts.
    pub counts: Block,
    pub cond: IntCond,
    pub value: Value,
    pub step: i32,
    pub limit: Value,
    /// What each parameter of the header grows by, where that is a constant.
    pub growths: Vec<Option<i32>>,
}

/// Puts a loop that does iterations ahead beside the one of that header.
pub(crate) fn put(func: &mut Function, header: Block) -> Option<Ahead> {
    let left = Left::new(func, header)?;
    let ahead = beside::put(&left, func);
    params::run(func);
    Some(ahead)
}

impl Left {
    fn new(func: &Function, header: Block) -> Option<Left> {
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func);
        let forest = LoopForest::new(&cfg, &dominators);
        let l = forest.headed_by(header)?;
        let data = &forest.loops[l];
        let is_alone = data.inner.is_empty() && data.latches.len() == 1;
        if !is_alone || data.own.len() > MAX_BLOCKS || forest.exits(func, l).len() < 2 {
            return None;
        }
        let latch = data.latches[0];
        let mut counting =
            data.own.iter().copied().filter(|&block| dominators.dominates(block, latch));
        let (counts, shape) = counting
            .find_map(|block| Some((block, Shape::left(func, &cfg, &forest, l, block)?)))?;
        let Trips::While { cond, value, step, limit } = shape.trips else { return None };
        // What is compared first is made before the loop.
        shape.slice(func, value)?;
        shape.slice(func, limit)?;
        let params = &func.blocks[header].params;
        let growths = (0..params.len()).map(|number| match func.ty(params[number]) {
            Type::I32 | Type::I64 => shape.growth(func, number),
            _ => None,
        });
        let growths = growths.collect();
        let left = Left { shape, counts, cond, value, step, limit, growths };
        left.may_repeat(func).then_some(left)
    }

    /// Whether an iteration that leaves may be done again: it stores nothing before, or the loop loads nothing
    /// of what it stores to.
    fn may_repeat(&self, func: &Function) -> bool {
        let shape = &self.shape;
        let leaves = |block: Block| {
            let ways = successors(func, block);
            block != self.counts && ways.into_iter().any(|to| !shape.contains(to))
        };
        let stores = |block: &&Block| {
            let insts = &func.blocks[**block].insts;
            insts.iter().any(|&inst| matches!(func.insts[inst].op, Op::Store(..)))
        };
        let is_left_from = |from: &Block| {
            let mut seen = vec![*from];
            let mut next = 0;
            while let Some(&at) = seen.get(next) {
                next += 1;
                let ways = successors(func, at).into_iter();
                let ways: Vec<Block> = ways.filter(|&to| shape.contains(to)).collect();
                for to in ways {
                    if to != shape.header && !seen.contains(&to) {
                        seen.push(to);
                    }
                }
            }
            seen.into_iter().any(leaves)
        };
        may_run_again(func, shape) || !shape.blocks.iter().filter(stores).any(is_left_from)
    }

    /// Whether subscripts are known before, so that nothing but stores happens where an iteration goes on behind
    /// a way out.
    pub fn is_harmless(&self, func: &Function) -> bool {
        let insts = || self.shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
        insts().all(|&inst| match &func.insts[inst].op {
            Op::Load(_, _, subscripts) | Op::Store(_, subscripts, _) => {
                subscripts.iter().all(|&subscript| self.is_counted(func, subscript, MAX_FOLLOWED))
            }
            _ => true,
        })
    }

    /// Whether a word is made of what grows by constants and of what the loop does not change.
    fn is_counted(&self, func: &Function, value: Value, depth: u32) -> bool {
        if !self.shape.defines(func, value) {
            return true;
        }
        match func.values[value].def {
            ValueDef::Param(block, number) => {
                block == self.shape.header && self.growths[number as usize].is_some()
            }
            ValueDef::Result(inst, _) => {
                let op = &func.insts[inst].op;
                let is_simple = matches!(op, Op::Const(..) | Op::Binary(..) | Op::Convert(..));
                let mut args = op.args().into_iter();
                depth > 0 && is_simple && args.all(|arg| self.is_counted(func, arg, depth - 1))
            }
        }
    }
}
