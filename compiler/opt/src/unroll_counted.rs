//! Unrolling of loops of which it is known at run time only how often they run: groups of iterations
//! while there are enough, then the loop as it was for those that are left (Muchnick, "Advanced
//! Compiler Design and Implementation", section 17.4.2).
//!
//! Only loops without loops inside, left by their one way back when a counter has come to a bound. A
//! group is a power of two of iterations, so that a mask tells where the last group ends; then
//! nothing is assumed of counter and bound, which may wrap.

use std::collections::BTreeSet;

use nbcc_analysis::{Loop, LoopForest};
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, Constant, Dominators, Effect, Function, Inst,
    IntCond, Op, Terminator, Value,
};

use crate::clone_blocks::ClonedBlocks;
use crate::effects::effect;
use crate::simplify_cfg;
use crate::unroll::latch;

/// A loop that counts to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<'a> {
    /// Its blocks, the header first.
    pub blocks: &'a [Block],
    /// The counter in the first iteration.
    pub start: Value,
    /// What every iteration adds to the counter, a power of two.
    pub step: u64,
    /// The counter behind the last iteration. It may be made anew in each iteration.
    pub bound: Value,
}

/// What becomes of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// It is left as it is.
    None,
    /// Groups of so many iterations, none left over: the caller knows that.
    Exact(u64),
    /// Groups of so many iterations, a power of two, then those that are left.
    Rest(u64),
}

impl Groups {
    /// How often the body stands beside where it was.
    pub fn copies(self) -> u64 {
        match self {
            Groups::None => 0,
            Groups::Exact(times) => times - 1,
            Groups::Rest(times) => times,
        }
    }
}

/// Unrolls four times, iterations left over.
pub fn run(func: &mut Function) -> bool {
    run_where(func, |_, _| Groups::Rest(4))
}

/// Unrolls each loop that counts to a bound as `groups` says.
pub fn run_where(
    func: &mut Function,
    mut groups: impl FnMut(&Function, Counted<'_>) -> Groups,
) -> bool {
    let mut done: BTreeSet<Block> = BTreeSet::new();
    let mut changed = false;
    loop {
        let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
        let forest = LoopForest::new(&cfg, &dominators);
        let mut found = None;
        for l in forest.loops.keys() {
            let data = &forest.loops[l];
            if !data.inner.is_empty() || !done.insert(data.header) {
                continue;
            }
            let Some(shape) = Shape::new(func, &cfg, &forest, l) else { continue };
            let groups = groups(func, shape.counted());
            if groups != Groups::None {
                found = Some((shape, groups));
                break;
            }
        }
        let Some((shape, groups)) = found else { return changed };
        done.extend(shape.unroll(func, &cfg, groups));
        simplify_cfg::run(func);
        changed = true;
    }
}

/// A loop that counts, and what its unrolling takes.
struct Shape {
    blocks: Vec<Block>,
    latch: Block,
    /// Where the comparison with the bound comes from.
    span: Option<Span>,
    /// The counter in the first iteration, and behind an iteration.
    start: Value,
    next: Value,
    step: u64,
    bound: Value,
    /// What makes the bound and what is used behind the loop in each iteration, always the same, in
    /// order.
    made: Vec<Inst>,
}

impl Shape {
    fn new(func: &Function, cfg: &Cfg, forest: &LoopForest, l: Loop) -> Option<Shape> {
        let data = &forest.loops[l];
        let header = data.header;
        if func.blocks[header].loop_info.as_ref()?.trips.is_some() {
            return None;
        }
        let latch = latch(func, forest, l)?;
        let Terminator::Branch(goes_on, to, _) = func.terminator(latch) else { return None };
        let Op::Icmp(IntCond::Ne, next, bound) = *func.def_op(*goes_on)? else { return None };
        if to.block != header {
            return None;
        }
        let place = to.args.iter().position(|&arg| arg == next)?;
        let counter = func.blocks[header].params[place];
        let Op::Binary(BinaryOp::Iadd, a, b) = *func.def_op(next)? else { return None };
        let step = func.splat_constant(if a == counter { b } else { a })?;
        let inside: BTreeSet<Block> = data.own.iter().copied().collect();
        let mut entries = cfg.predecessors(header).iter().filter(|block| !inside.contains(block));
        let (&entry, None) = (entries.next()?, entries.next()) else { return None };
        let entering = func.terminator(entry).successors();
        let start = entering.iter().find(|to| to.block == header)?.args[place];
        let mut shape = Shape {
            blocks: data.own.clone(),
            latch,
            span: func.insts[func.def_inst(*goes_on)?].span,
            start,
            next,
            step,
            bound,
            made: vec![],
        };
        let inside = shape.made_inside(func);
        let used = shape.used_behind(func, &inside);
        shape.made = making(func, &inside, used.into_iter().chain([bound]).collect())?;
        let counts = (a == counter || b == counter) && step.is_power_of_two();
        counts.then_some(shape)
    }

    /// A builder at the end of a block, of what comes from where the counter is compared.
    fn builder<'a>(&self, func: &'a mut Function, block: Block) -> Builder<'a> {
        let mut builder = Builder::at(func, block);
        builder.set_span(self.span);
        builder
    }

    fn counted(&self) -> Counted<'_> {
        Counted { blocks: &self.blocks, start: self.start, step: self.step, bound: self.bound }
    }

    /// The values that blocks of the loop define.
    fn made_inside(&self, func: &Function) -> BTreeSet<Value> {
        let of = |&block: &Block| {
            let data = &func.blocks[block];
            let results = data.insts.iter().flat_map(|&inst| func.insts[inst].results.clone());
            results.chain(data.params.iter().copied()).collect::<Vec<_>>()
        };
        self.blocks.iter().flat_map(of).collect()
    }

    /// The values of the loop that are used outside, but for arguments of the way out.
    fn used_behind(&self, func: &Function, inside: &BTreeSet<Value>) -> BTreeSet<Value> {
        let mut used = BTreeSet::new();
        let mut look = |value: Value| {
            used.extend(inside.contains(&value).then_some(value));
        };
        for &block in func.layout.iter().filter(|block| !self.blocks.contains(block)) {
            for &inst in &func.blocks[block].insts {
                func.insts[inst].op.for_each_arg(&mut look);
            }
            func.terminator(block).for_each_arg(&mut look);
        }
        used
    }

    /// Unrolls the loop; gives the headers of what is left of it.
    fn unroll(&self, func: &mut Function, cfg: &Cfg, groups: Groups) -> Vec<Block> {
        let header = self.blocks[0];
        let (times, rest) = match groups {
            Groups::None => return vec![],
            Groups::Exact(times) => (times, false),
            Groups::Rest(times) => (times, true),
        };
        let inside = |block| self.blocks.contains(&block);
        let Some(preheader) = func.preheader(cfg, header, inside) else { return vec![] };
        for &block in &self.blocks {
            func.blocks[block].insts.retain(|inst| !self.made.contains(inst));
        }
        func.blocks[preheader].insts.extend(&self.made);
        let end = rest.then(|| self.end_of_groups(func, preheader, times));
        let copies: Vec<ClonedBlocks> =
            (0..times).map(|_| ClonedBlocks::before(func, &self.blocks, header)).collect();
        let headers: Vec<Block> = copies.iter().map(|copy| copy.blocks[&header]).collect();
        let latches: Vec<Block> = copies.iter().map(|copy| copy.blocks[&self.latch]).collect();
        for (n, &latch) in latches.iter().enumerate() {
            let Some(Terminator::Branch(goes_on, mut again, leave)) =
                func.blocks[latch].terminator.take()
            else {
                panic!("a latch branches")
            };
            let last = n + 1 == latches.len();
            again.block = headers[if last { 0 } else { n + 1 }];
            func.blocks[latch].terminator = Some(match (last, end) {
                (false, _) => Terminator::Jump(again),
                (true, None) => Terminator::Branch(goes_on, again, leave),
                (true, Some(end)) => {
                    let next = copies[n].values[self.next].unwrap_or(self.next);
                    let more = self.builder(func, latch).value(Op::Icmp(IntCond::Ne, next, end));
                    let behind = func.add_block();
                    func.blocks[behind].span = func.blocks[latch].span;
                    let at = func.layout.iter().position(|&b| b == header).unwrap_or(0);
                    func.layout.pop();
                    func.layout.insert(at, behind);
                    let one = BlockCall { block: header, args: again.args.clone() };
                    let left = Op::Icmp(IntCond::Ne, next, self.bound);
                    let left = self.builder(func, behind).value(left);
                    func.blocks[behind].terminator = Some(Terminator::Branch(left, one, leave));
                    let behind = BlockCall { block: behind, args: vec![] };
                    Terminator::Branch(more, again, behind)
                }
            });
        }
        let Some(Terminator::Jump(enter)) = func.blocks[preheader].terminator.take() else {
            panic!("a preheader jumps")
        };
        let first = BlockCall { block: headers[0], args: enter.args.clone() };
        func.blocks[preheader].terminator = Some(match end {
            None => Terminator::Jump(first),
            Some(end) => {
                let mut b = self.builder(func, preheader);
                let any = b.value(Op::Icmp(IntCond::Ne, self.start, end));
                Terminator::Branch(any, first, enter)
            }
        });
        for copy in &headers[1..] {
            func.blocks[*copy].loop_info = None;
        }
        let counter = func.blocks[headers[0]].loop_info.as_mut();
        if let Some(counter) = counter.and_then(|info| info.counter.as_mut()) {
            counter.step *= times as i64;
        }
        vec![headers[0], header]
    }

    /// Where the counter is when the last whole group is done, made in the preheader.
    fn end_of_groups(&self, func: &mut Function, preheader: Block, times: u64) -> Value {
        let ty = func.ty(self.bound);
        let mut b = self.builder(func, preheader);
        let mask = b.value(Op::Const(ty, Constant::Splat(times * self.step - 1)));
        let all = b.binary(BinaryOp::Isub, self.bound, self.start);
        let left = b.binary(BinaryOp::And, all, mask);
        b.binary(BinaryOp::Isub, self.bound, left)
    }
}

/// The instructions of a loop that make values, in order, if nothing in the loop changes those.
fn making(func: &Function, inside: &BTreeSet<Value>, values: Vec<Value>) -> Option<Vec<Inst>> {
    let mut made = Vec::new();
    let mut left: Vec<(Value, bool)> = values.into_iter().map(|value| (value, false)).collect();
    while let Some((value, ready)) = left.pop() {
        if !inside.contains(&value) {
            continue;
        }
        let inst = func.def_inst(value)?;
        if made.contains(&inst) {
            continue;
        }
        if ready {
            made.push(inst);
            continue;
        }
        if effect(func, &func.insts[inst].op) != Effect::Pure {
            return None;
        }
        left.push((value, true));
        func.insts[inst].op.for_each_arg(|arg| left.push((arg, false)));
    }
    Some(made)
}
