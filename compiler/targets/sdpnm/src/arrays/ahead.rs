//! Loops that are left in their middle, by `break` or a condition that data decides, while another one
//! counts. Beside such a loop stands another that only an array runs: it does iterations ahead as long as
//! none leaves, and says how many these were. The core then does the iteration that leaves once more, from
//! the values that it begins with, so that all ways out are its own.
//!
//! How early a loop is left nobody knows. So the core begins, with as many iterations as cost about what
//! starting an array does; then an array does a stretch of iterations, and each stretch is twice as long as
//! the one before: what it does in vain is no more than what was done before (doubling, as in Bentley, Yao,
//! "An almost optimal algorithm for unbounded searching", Information Processing Letters 1976).

use std::collections::BTreeSet;

use nbcc_analysis::LoopForest;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, Constant, ConvertOp, Dominators, Function, Inst,
    IntCond, Op, Terminator, Type, UnaryOp, Value, ValueDef, cfg::successors,
};
use nbcc_opt::params;
use nbcc_opt::unroll::Copy;

use super::shape::{MAX_BLOCKS, Shape, Trips};
use super::version::copy as copied;
use super::watch::may_run_again;

/// How deep operands are followed.
const DEPTH: u32 = 12;

/// Iterations of a stretch at most.
const MOST: u32 = 1 << 20;

/// A loop that has another one beside it, which does iterations ahead.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// The header of the other one.
    pub header: Block,
    /// The block that goes on with the loop instead of it.
    pub instead: Block,
    /// How many iterations the core does first.
    first: Value,
    /// How many the first stretch has.
    stretch: Value,
}

impl Ahead {
    /// Says from how many iterations on an array is worth it, and how many it does in half the
    /// time that starting it takes.
    pub(super) fn tune(&self, func: &mut Function, least: u32, stretch: u32) {
        for (value, number) in [(self.first, least), (self.stretch, stretch.max(least))] {
            if let Some(inst) = func.def_inst(value) {
                let number = u64::from(number.clamp(1, MOST));
                func.insts[inst].op = Op::Const(Type::I32, Constant::Splat(number));
            }
        }
    }
}

/// A loop that is left in several places, of which one counts.
struct Left {
    shape: Shape,
    /// The block that counts.
    counts: Block,
    cond: IntCond,
    value: Value,
    step: i32,
    limit: Value,
    /// What each parameter of the header grows by, where that is a constant.
    growths: Vec<Option<i32>>,
}

/// Puts a loop that does iterations ahead beside the one of that header.
pub(super) fn put(func: &mut Function, header: Block) -> Option<Ahead> {
    let left = Left::new(func, header)?;
    let ahead = left.beside(func);
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
    fn is_harmless(&self, func: &Function) -> bool {
        let insts = || self.shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
        insts().all(|&inst| match &func.insts[inst].op {
            Op::Load(_, _, subscripts) | Op::Store(_, subscripts, _) => {
                subscripts.iter().all(|&subscript| self.is_counted(func, subscript, DEPTH))
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

    /// Puts the other loop beside this one, and lets this one go there; the header of the other one.
    fn beside(&self, func: &mut Function) -> Ahead {
        let Left { shape, cond, value, step, limit, .. } = self;
        let (header, cond, value, step, limit) = (shape.header, *cond, *value, *step, *limit);
        let params = func.blocks[header].params.clone();
        let types: Vec<Type> = params.iter().map(|&param| func.ty(param)).collect();
        let ty = func.ty(value);
        let dominators = Dominators::new(func);
        let is_always = |block| dominators.dominates(block, shape.latch);
        let is_harmless = self.is_harmless(func);
        let copy = Copy::new(func, &shape.blocks, header);
        let [enter, look, head, latch, behind, instead] = [(); 6].map(|()| func.add_block());
        for block in [enter, look, head, latch, behind, instead] {
            func.blocks[block].span = shape.span;
            func.blocks[block].cold = block != enter;
        }
        for block in [header, copy.blocks[&header]] {
            func.blocks[block].loop_info = None;
        }
        let add = |func: &mut Function, block, types: &[Type]| -> Vec<Value> {
            types.iter().map(|&ty| func.add_param(block, ty)).collect()
        };

        // The loop is entered with the value that it counts to now.
        let entering = add(func, enter, &types);
        let bound = func.add_param(enter, ty);
        func.blocks[enter].terminator = jump(header, entering);

        // At first that is no more than a few iterations away.
        let mut b = Builder::at(func, shape.preheader);
        b.set_span(shape.span);
        let last = copied(&mut b, shape, limit);
        let from = copied(&mut b, shape, value);
        let first = b.i32(1);
        let near = grown(&mut b, from, first, step);
        // A branch takes less time than a choice.
        let entry =
            |bound| BlockCall { block: enter, args: [&shape.entry_args[..], &[bound]].concat() };
        let is_far = match cond {
            IntCond::Ne => {
                let apart = distance(&mut b, from, last, step);
                let most = grown_by(&mut b, first, ty);
                b.value(Op::Icmp(IntCond::Ugt, apart, most))
            }
            cond => b.value(Op::Icmp(cond, near, last)),
        };
        let stretch = b.i32(1);
        b.terminate(Terminator::Branch(is_far, entry(near), entry(last)));

        // Where it is reached, the other loop may go on: behind an iteration, or before one of which nothing is
        // done yet.
        let at_start = self.counts == header && is_pure(func, header);
        let at_end = self.counts == shape.latch;
        let over = func.add_block();
        func.blocks[over].span = shape.span;
        let to_over = BlockCall { block: over, args: vec![] };
        let back = BlockCall { block: header, args: shape.back_args.clone() };
        let stays = func.terminator(self.counts).successors().into_iter();
        let mut stays = stays.filter(|way| shape.contains(way.block)).cloned();
        let stays = stays.next().unwrap_or_else(|| back.clone());
        let mut b = Builder::at(func, if at_start || at_end { self.counts } else { over });
        b.set_span(shape.span);
        let is_near = b.value(Op::Icmp(cond, value, bound));
        let look_at = |args: &[Value], at: Value| BlockCall {
            block: look,
            args: [args, &[at, stretch]].concat(),
        };
        if at_start || at_end {
            b.terminate(Terminator::Branch(is_near, stays, to_over));
            b.switch_to(over);
            let goes_on = b.value(Op::Icmp(cond, value, limit));
            let to = match at_end {
                true => look_at(&shape.back_args, value),
                false => {
                    let back = by(&mut b, ty, step.wrapping_neg());
                    let before = b.iadd(value, back);
                    // What counts is made of the value, so that it needs no register beside it.
                    let mut args = params.clone();
                    if let Some((param, more)) = shape.offset(b.func, value) {
                        let more = by(&mut b, ty, (more as i32).wrapping_neg());
                        let own = b.iadd(value, more);
                        args.iter_mut().filter(|arg| **arg == param).for_each(|arg| *arg = own);
                    }
                    look_at(&args, before)
                }
            };
            b.terminate(Terminator::Branch(goes_on, to, shape.exit.clone()));
        } else {
            let to = look_at(&shape.back_args, value);
            b.terminate(Terminator::Branch(is_near, back, to));
            if let Some(terminator) = &mut b.func.blocks[shape.latch].terminator {
                for way in terminator.successors_mut() {
                    if way.block == header {
                        *way = to_over.clone();
                    }
                }
            }
        }

        // How many iterations do not leave by the count, and no more than the stretch has.
        let now = add(func, look, &types);
        let [at, size] = [ty, Type::I32].map(|ty| func.add_param(look, ty));
        let mut b = Builder::at(func, look);
        b.set_span(shape.span);
        let last = match b.func.splat_constant(limit) {
            Some(bits) => b.constant(ty, bits),
            None => limit,
        };
        let apart = distance(&mut b, at, last, step);
        let one = b.constant(ty, 1);
        let mut apart = b.binary(BinaryOp::Isub, apart, one);
        let size_of_step = step.unsigned_abs();
        if size_of_step > 1 {
            let divisor = b.constant(ty, size_of_step.into());
            apart = b.binary(BinaryOp::Udiv, apart, divisor);
        }
        let most = grown_by(&mut b, size, ty);
        let trips = b.binary(BinaryOp::Umin, apart, most);
        let trips = match ty {
            Type::I64 => b.convert(ConvertOp::Truncate, trips, Type::I32),
            _ => trips,
        };
        let (zero, never) = (b.i32(0), b.i32(-1));
        let begun =
            now.iter().zip(&self.growths).filter(|(_, growth)| growth.is_none() && is_harmless);
        let begun: Vec<Value> = begun.map(|(&value, _)| value).collect();
        let enter_head = [&[zero], &now[..], &begun, &[never]].concat();
        b.jump(head, enter_head);
        let on = [&now[..], &[last]].concat();
        func.blocks[instead].terminator = jump(enter, on);

        // An iteration of the other loop. Where subscripts are known, it is done to its end, what leaves is asked
        // there, and what the first iteration that leaves begins with is kept beside what goes on; else nothing
        // is done behind that.
        let index = func.add_param(head, Type::I32);
        let before = add(func, head, &types);
        let is_linear = |number: &usize| self.growths[*number].is_some();
        let kept: Vec<usize> = (0..types.len()).filter(|number| !is_linear(number)).collect();
        let kept_types: Vec<Type> = kept.iter().map(|&number| types[number]).collect();
        let saved = add(func, head, if is_harmless { &kept_types } else { &[] });
        let stop = func.add_param(head, Type::I32);
        let mut b = Builder::at(func, head);
        b.set_span(shape.span);
        let next = b.iadd_imm(index, 1);
        let never = b.i32(-1);
        let is_live = b.value(Op::Icmp(IntCond::Ult, index, stop));
        let ends = |values: &[Value], stop: Value| {
            let values = kept.iter().map(|&number| values[number]);
            BlockCall { block: latch, args: values.chain([stop]).collect() }
        };
        let begin = BlockCall { block: copy.blocks[&header], args: before.clone() };
        if is_harmless {
            b.terminate(Terminator::Jump(begin));
        } else {
            b.terminate(Terminator::Branch(is_live, begin, ends(&before, never)));
        }
        let own: BTreeSet<Block> = copy.blocks.values().copied().collect();
        let mut leaving = Vec::new();
        for (&block, &copied) in &copy.blocks {
            let Some(Terminator::Branch(cond, then, other)) =
                func.blocks[copied].terminator.clone()
            else {
                continue;
            };
            let [is_then, is_other] = [&then, &other].map(|way| own.contains(&way.block));
            if is_then == is_other || !is_always(block) || !(is_harmless || block == self.counts) {
                continue;
            }
            if block != self.counts {
                leaving.push((block, cond, is_other));
            }
            func.blocks[copied].terminator =
                Some(Terminator::Jump(if is_then { then } else { other }));
        }
        for &block in &own {
            let Some(terminator) = &mut func.blocks[block].terminator else { continue };
            for way in terminator.successors_mut() {
                if way.block == copy.blocks[&header] {
                    *way = ends(&way.args, never);
                } else if !own.contains(&way.block) {
                    *way = ends(&before, index);
                }
            }
        }
        if is_harmless {
            for (&block, &copied) in &copy.blocks {
                let known = leaving
                    .iter()
                    .filter(|(of, ..)| *of != block && dominators.dominates(*of, block));
                let known: Vec<(Value, bool)> =
                    known.map(|&(_, cond, is_leaving)| (cond, is_leaving)).collect();
                guard(func, copied, is_live, &known);
            }
        }
        let left = add(func, latch, &kept_types);
        let mut at_stop = func.add_param(latch, Type::I32);
        let mut b = Builder::at(func, latch);
        b.set_span(shape.span);
        for &(_, cond, is_leaving) in &leaving {
            at_stop = b.value(match is_leaving {
                true => Op::Select(cond, index, at_stop),
                false => Op::Select(cond, at_stop, index),
            });
        }
        let stop = b.binary(BinaryOp::Umin, stop, at_stop);
        let saved: Vec<Value> = match is_harmless {
            true => {
                let is_live = b.value(Op::Icmp(IntCond::Ult, index, stop));
                let both = left.iter().zip(&saved);
                both.map(|(&new, &old)| b.value(Op::Select(is_live, new, old))).collect()
            }
            false => vec![],
        };
        let mut again = vec![next];
        let mut values = left.iter();
        for (number, growth) in self.growths.iter().enumerate() {
            again.push(match growth {
                Some(growth) => {
                    let growth = by(&mut b, types[number], *growth);
                    b.iadd(before[number], growth)
                }
                None => *values.next().expect("a value for each parameter"),
            });
        }
        again.extend(&saved);
        again.push(stop);
        let goes_on = b.value(Op::Icmp(IntCond::Slt, next, trips));
        let again = BlockCall { block: head, args: again };
        b.terminate(Terminator::Branch(goes_on, again, BlockCall { block: behind, args: vec![] }));

        // From where it came to.
        let mut b = Builder::at(func, behind);
        b.set_span(shape.span);
        let mut values = if is_harmless { saved.iter() } else { left.iter() };
        let mut reached = Vec::new();
        let done = b.binary(BinaryOp::Umin, stop, trips);
        for (number, growth) in self.growths.iter().enumerate() {
            reached.push(match growth {
                Some(growth) => grown(&mut b, now[number], done, *growth),
                None => *values.next().expect("a value for each parameter"),
            });
        }
        let at = grown(&mut b, at, done, step);
        let limit_of_size = b.i32(MOST as i32);
        let twice = b.iadd(size, size);
        let twice = b.binary(BinaryOp::Umin, twice, limit_of_size);
        let is_left = b.value(Op::Icmp(IntCond::Slt, done, trips));
        let out = BlockCall { block: enter, args: [&reached[..], &[last]].concat() };
        let more = BlockCall { block: look, args: [&reached[..], &[at, twice]].concat() };
        b.terminate(Terminator::Branch(is_left, out, more));
        Ahead { header: head, instead, first, stretch }
    }
}

/// Whether a block only computes what nothing sees.
fn is_pure(func: &Function, block: Block) -> bool {
    func.blocks[block].insts.iter().all(|&inst| match &func.insts[inst].op {
        Op::Binary(op, ..) => {
            use BinaryOp::{Sdiv, Srem, Udiv, Urem};
            !matches!(op, Sdiv | Srem | Udiv | Urem)
        }
        op => matches!(
            op,
            Op::Const(..) | Op::Unary(..) | Op::Icmp(..) | Op::Select(..) | Op::Convert(..)
        ),
    })
}

/// Lets a block store only where a truth value holds, and no one of others that say that an iteration leaves.
fn guard(func: &mut Function, block: Block, is_live: Value, leaving: &[(Value, bool)]) {
    let mut at = block;
    loop {
        let insts = &func.blocks[at].insts;
        let is_store = |inst: &Inst| matches!(func.insts[*inst].op, Op::Store(..));
        let Some(first) = insts.iter().position(is_store) else { return };
        let rest = func.blocks[at].insts.split_off(first);
        let count =
            rest.iter().take_while(|inst| matches!(func.insts[**inst].op, Op::Store(..))).count();
        let [storing, behind] = [(); 2].map(|()| func.add_block());
        let terminator = func.blocks[at].terminator.take();
        let (span, cold) = (func.blocks[at].span, func.blocks[at].cold);
        for new in [storing, behind] {
            (func.blocks[new].span, func.blocks[new].cold) = (span, cold);
        }
        func.blocks[behind].terminator = terminator;
        func.blocks[storing].terminator = jump(behind, vec![]);
        func.blocks[behind].insts = rest[count..].to_vec();
        func.blocks[storing].insts = rest[..count].to_vec();
        let mut b = Builder::at(func, at);
        b.set_span(span);
        let stores = leaving.iter().fold(is_live, |all, &(cond, is_leaving)| {
            let stays = if is_leaving { b.unary(UnaryOp::Not, cond) } else { cond };
            b.binary(BinaryOp::And, all, stays)
        });
        let to = |block| BlockCall { block, args: vec![] };
        b.terminate(Terminator::Branch(stores, to(storing), to(behind)));
        at = behind;
    }
}

fn jump(block: Block, args: Vec<Value>) -> Option<Terminator> {
    Some(Terminator::Jump(BlockCall { block, args }))
}

/// A count of 32 bits as a word of the type.
fn grown_by(b: &mut Builder<'_>, count: Value, ty: Type) -> Value {
    match ty {
        Type::I64 => b.convert(ConvertOp::ZeroExtend, count, ty),
        _ => count,
    }
}

/// A constant that is added.
fn by(b: &mut Builder<'_>, ty: Type, number: i32) -> Value {
    match ty {
        Type::I64 => b.constant(ty, i64::from(number) as u64),
        _ => b.i32(number),
    }
}

/// What a word is after so many steps.
fn grown(b: &mut Builder<'_>, value: Value, count: Value, step: i32) -> Value {
    let ty = b.func.ty(value);
    let count = grown_by(b, count, ty);
    let way = match step {
        1 => count,
        _ => {
            let step = by(b, ty, step);
            b.imul(count, step)
        }
    };
    b.iadd(value, way)
}

/// How far a word is from another, in the direction of the steps.
fn distance(b: &mut Builder<'_>, from: Value, to: Value, step: i32) -> Value {
    match step > 0 {
        true => b.binary(BinaryOp::Isub, to, from),
        false => b.binary(BinaryOp::Isub, from, to),
    }
}
