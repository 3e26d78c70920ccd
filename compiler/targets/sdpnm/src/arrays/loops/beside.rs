//! The loop that does iterations ahead ([`super::ahead`]), put beside the one that is left in its middle:
//!
//! ```text
//! enter ─▶ the loop, up to its bound ─▶ look: how many iterations ─▶ head ─▶ latch ─▶ behind ─▶ enter, to leave
//!                                        ▲                                             │
//!                                        └─────────── a longer stretch ────────────────┘
//! ```

use std::collections::BTreeSet;

use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, ConvertOp, Dominators, Function, Inst, IntCond, Op,
    Terminator, Type, UnaryOp, Value,
};
use nbcc_opt::clone_blocks::ClonedBlocks;

use super::ahead::{Ahead, Left, MAX_STRETCH};
use crate::arrays::versions::version::copy as copied;

/// What stands beside a loop.
struct Beside<'a> {
    left: &'a Left,
    /// The copy of the loop.
    copy: ClonedBlocks,
    /// The parameters of the loop's header, and their types.
    params: Vec<Value>,
    types: Vec<Type>,
    /// The type of what counts.
    ty: Type,
    /// As of [`Left::is_harmless`].
    is_harmless: bool,
    /// Of the function as it was.
    dominators: Dominators,
    /// The block that enters the loop with a bound.
    enter: Block,
    /// The block that asks how many iterations an array does.
    look: Block,
    /// The header and the latch of the other loop.
    head: Block,
    latch: Block,
    /// The block behind it.
    behind: Block,
    /// As of [`Ahead::instead`].
    instead: Block,
}

/// What is known before a stretch of iterations.
struct Stretch {
    /// The parameters of the header.
    now: Vec<Value>,
    /// What counts.
    at: Value,
    /// Iterations that it has at most, and has.
    size: Value,
    trips: Value,
    /// What the count ends at.
    last: Value,
}

/// What is known behind an iteration.
struct Iteration {
    /// The first iteration that leaves, or the greatest number.
    stop: Value,
    /// What does not grow by constants, in the first iteration that leaves.
    reached: Vec<Value>,
}

/// Puts the other loop beside this one, and lets this one go there.
pub(super) fn put(left: &Left, func: &mut Function) -> Ahead {
    let beside = Beside::new(left, func);
    let entry = beside.enter(func);
    beside.reach(func, &entry);
    let stretch = beside.look(func);
    let iteration = beside.iteration(func, stretch.trips);
    beside.exit(func, &stretch, &iteration);
    let Entry { first, stretch, .. } = entry;
    Ahead { header: beside.head, instead: beside.instead, first, stretch }
}

/// How the loop is entered.
struct Entry {
    /// What it counts to now.
    bound: Value,
    /// As of [`Ahead`].
    first: Value,
    stretch: Value,
}

impl<'a> Beside<'a> {
    fn new(left: &'a Left, func: &mut Function) -> Beside<'a> {
        let shape = &left.shape;
        let params = func.blocks[shape.header].params.clone();
        let types: Vec<Type> = params.iter().map(|&param| func.ty(param)).collect();
        let ty = func.ty(left.value);
        let dominators = Dominators::new(func);
        let is_harmless = left.is_harmless(func);
        let copy = ClonedBlocks::before(func, &shape.blocks, shape.header);
        let [enter, look, head, latch, behind, instead] = [(); 6].map(|()| func.add_block());
        for block in [enter, look, head, latch, behind, instead] {
            func.blocks[block].span = shape.span;
            func.blocks[block].cold = block != enter;
        }
        for block in [shape.header, copy.blocks[&shape.header]] {
            func.blocks[block].loop_info = None;
        }
        Beside {
            left,
            copy,
            params,
            types,
            ty,
            is_harmless,
            dominators,
            enter,
            look,
            head,
            latch,
            behind,
            instead,
        }
    }

    /// Parameters of all values that the loop carries.
    fn add(&self, func: &mut Function, block: Block) -> Vec<Value> {
        self.types.iter().map(|&ty| func.add_param(block, ty)).collect()
    }

    /// The numbers of those that do not grow by constants.
    fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        let growths = self.left.growths.iter().enumerate();
        growths.filter(|(_, growth)| growth.is_none()).map(|(number, _)| number)
    }

    /// All values that the loop carries, of those that do not grow by constants and what the others are.
    fn all(&self, kept: &[Value], mut grown: impl FnMut(usize, i32) -> Value) -> Vec<Value> {
        let mut kept = kept.iter();
        let of = |(number, growth): (usize, &Option<i32>)| match growth {
            Some(growth) => grown(number, *growth),
            None => *kept.next().expect("a value for each parameter"),
        };
        self.left.growths.iter().enumerate().map(of).collect()
    }

    /// Lets the loop be entered with the value that it counts to now: at first no more than a few iterations
    /// away.
    fn enter(&self, func: &mut Function) -> Entry {
        let Left { shape, cond, value, step, limit, .. } = self.left;
        let (cond, step) = (*cond, *step);
        let entering = self.add(func, self.enter);
        let bound = func.add_param(self.enter, self.ty);
        func.blocks[self.enter].terminator = jump(shape.header, entering);
        let mut b = Builder::at(func, shape.preheader);
        b.set_span(shape.span);
        let last = copied(&mut b, shape, *limit);
        let from = copied(&mut b, shape, *value);
        let first = b.i32(1);
        let near = grown(&mut b, from, first, step);
        // A branch takes less time than a choice.
        let entry = |bound| BlockCall {
            block: self.enter,
            args: [&shape.entry_args[..], &[bound]].concat(),
        };
        let is_far = match cond {
            IntCond::Ne => {
                let apart = distance(&mut b, from, last, step);
                let most = grown_by(&mut b, first, self.ty);
                b.value(Op::Icmp(IntCond::Ugt, apart, most))
            }
            cond => b.value(Op::Icmp(cond, near, last)),
        };
        let stretch = b.i32(1);
        b.terminate(Terminator::Branch(is_far, entry(near), entry(last)));
        Entry { bound, first, stretch }
    }

    /// Where that value is reached, the other loop may go on: behind an iteration, or before one of which
    /// nothing is done yet.
    fn reach(&self, func: &mut Function, &Entry { bound, stretch, .. }: &Entry) {
        let Left { shape, counts, cond, value, step, limit, .. } = self.left;
        let (header, counts, cond, value, step) = (shape.header, *counts, *cond, *value, *step);
        let at_start = counts == header && is_pure(func, header);
        let at_end = counts == shape.latch;
        let over = func.add_block();
        func.blocks[over].span = shape.span;
        let to_over = BlockCall { block: over, args: vec![] };
        let back = BlockCall { block: header, args: shape.back_args.clone() };
        let stays = func.terminator(counts).successors().into_iter();
        let mut stays = stays.filter(|way| shape.contains(way.block)).cloned();
        let stays = stays.next().unwrap_or_else(|| back.clone());
        let mut b = Builder::at(func, if at_start || at_end { counts } else { over });
        b.set_span(shape.span);
        let is_near = b.value(Op::Icmp(cond, value, bound));
        let look_at = |args: &[Value], at: Value| BlockCall {
            block: self.look,
            args: [args, &[at, stretch]].concat(),
        };
        if !(at_start || at_end) {
            let to = look_at(&shape.back_args, value);
            b.terminate(Terminator::Branch(is_near, back, to));
            if let Some(terminator) = &mut b.func.blocks[shape.latch].terminator {
                for way in terminator.successors_mut() {
                    if way.block == header {
                        *way = to_over.clone();
                    }
                }
            }
            return;
        }
        b.terminate(Terminator::Branch(is_near, stays, to_over));
        b.switch_to(over);
        let goes_on = b.value(Op::Icmp(cond, value, *limit));
        let to = match at_end {
            true => look_at(&shape.back_args, value),
            false => {
                let back = by(&mut b, self.ty, step.wrapping_neg());
                let before = b.iadd(value, back);
                // What counts is made of the value, so that it needs no register beside it.
                let mut args = self.params.clone();
                if let Some((param, more)) = shape.offset(b.func, value) {
                    let more = by(&mut b, self.ty, (more as i32).wrapping_neg());
                    let own = b.iadd(value, more);
                    args.iter_mut().filter(|arg| **arg == param).for_each(|arg| *arg = own);
                }
                look_at(&args, before)
            }
        };
        b.terminate(Terminator::Branch(goes_on, to, shape.exit.clone()));
    }

    /// How many iterations do not leave by the count, and no more than the stretch has.
    fn look(&self, func: &mut Function) -> Stretch {
        let (ty, Left { shape, cond, step, limit, .. }) = (self.ty, self.left);
        let now = self.add(func, self.look);
        let [at, size] = [ty, Type::I32].map(|ty| func.add_param(self.look, ty));
        let mut b = Builder::at(func, self.look);
        b.set_span(shape.span);
        let last = match b.func.splat_constant(*limit) {
            Some(bits) => b.constant(ty, bits),
            None => *limit,
        };
        let mut apart = distance(&mut b, at, last, *step);
        // What goes on at the limit itself leaves an iteration later.
        if !matches!(cond, IntCond::Sle | IntCond::Sge | IntCond::Ule | IntCond::Uge) {
            let one = b.constant(ty, 1);
            apart = b.binary(BinaryOp::Isub, apart, one);
        }
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
        let begun: Vec<Value> = match self.is_harmless {
            true => self.kept().map(|number| now[number]).collect(),
            false => vec![],
        };
        let enter_head = [&[zero], &now[..], &begun, &[never]].concat();
        b.jump(self.head, enter_head);
        let on = [&now[..], &[last]].concat();
        func.blocks[self.instead].terminator = jump(self.enter, on);
        Stretch { now, at, size, trips, last }
    }

    /// An iteration of the other loop. Where subscripts are known, it is done to its end, what leaves is asked
    /// there, and what the first iteration that leaves begins with is kept beside what goes on; else nothing
    /// is done behind that.
    fn iteration(&self, func: &mut Function, trips: Value) -> Iteration {
        let (is_harmless, latch) = (self.is_harmless, self.latch);
        let kept_types: Vec<Type> = self.kept().map(|number| self.types[number]).collect();
        let index = func.add_param(self.head, Type::I32);
        let before = self.add(func, self.head);
        let saved_types = if is_harmless { &kept_types[..] } else { &[] };
        let saved: Vec<Value> =
            saved_types.iter().map(|&ty| func.add_param(self.head, ty)).collect();
        let stop = func.add_param(self.head, Type::I32);
        let mut b = Builder::at(func, self.head);
        b.set_span(self.left.shape.span);
        let next = b.iadd_imm(index, 1);
        let never = b.i32(-1);
        let is_live = b.value(Op::Icmp(IntCond::Ult, index, stop));
        let begin =
            BlockCall { block: self.copy.blocks[&self.left.shape.header], args: before.clone() };
        if is_harmless {
            b.terminate(Terminator::Jump(begin));
        } else {
            b.terminate(Terminator::Branch(is_live, begin, self.ends(&before, never)));
        }
        let leaving = self.stay(func, (&before, index), never, is_live);
        let ended: Vec<Value> = kept_types.iter().map(|&ty| func.add_param(latch, ty)).collect();
        let mut at_stop = func.add_param(latch, Type::I32);
        let mut b = Builder::at(func, latch);
        b.set_span(self.left.shape.span);
        for (_, cond, is_leaving) in leaving {
            at_stop = b.value(match is_leaving {
                true => Op::Select(cond, index, at_stop),
                false => Op::Select(cond, at_stop, index),
            });
        }
        let stop = b.binary(BinaryOp::Umin, stop, at_stop);
        let saved: Vec<Value> = match is_harmless {
            true => {
                let is_live = b.value(Op::Icmp(IntCond::Ult, index, stop));
                let both = ended.iter().zip(&saved);
                both.map(|(&new, &old)| b.value(Op::Select(is_live, new, old))).collect()
            }
            false => vec![],
        };
        let values = self.all(&ended, |number, growth| {
            let growth = by(&mut b, self.types[number], growth);
            b.iadd(before[number], growth)
        });
        let again = [&[next], &values[..], &saved, &[stop]].concat();
        let goes_on = b.value(Op::Icmp(IntCond::Slt, next, trips));
        let again = BlockCall { block: self.head, args: again };
        let out = BlockCall { block: self.behind, args: vec![] };
        b.terminate(Terminator::Branch(goes_on, again, out));
        Iteration { stop, reached: if is_harmless { saved } else { ended } }
    }

    /// The end of an iteration with what does not grow by constants, and whether it leaves.
    fn ends(&self, values: &[Value], stop: Value) -> BlockCall {
        let values = self.kept().map(|number| values[number]);
        BlockCall { block: self.latch, args: values.chain([stop]).collect() }
    }

    /// Keeps the copy of the loop from leaving, other than to the end of an iteration: what of it must be
    /// asked there instead, by the blocks of the loop, and whether it leaves where that holds.
    fn stay(
        &self,
        func: &mut Function,
        (before, index): (&[Value], Value),
        never: Value,
        is_live: Value,
    ) -> Vec<(Block, Value, bool)> {
        let Left { shape, counts, .. } = self.left;
        let is_always = |block| self.dominators.dominates(block, shape.latch);
        let own: BTreeSet<Block> = self.copy.blocks.values().copied().collect();
        let mut leaving = Vec::new();
        for (&block, &copied) in &self.copy.blocks {
            let Some(Terminator::Branch(cond, then, other)) =
                func.blocks[copied].terminator.clone()
            else {
                continue;
            };
            let [is_then, is_other] = [&then, &other].map(|way| own.contains(&way.block));
            let is_asked_later = self.is_harmless || block == *counts;
            if is_then == is_other || !is_always(block) || !is_asked_later {
                continue;
            }
            if block != *counts {
                leaving.push((block, cond, is_other));
            }
            func.blocks[copied].terminator =
                Some(Terminator::Jump(if is_then { then } else { other }));
        }
        for &block in &own {
            let Some(terminator) = &mut func.blocks[block].terminator else { continue };
            for way in terminator.successors_mut() {
                if way.block == self.copy.blocks[&shape.header] {
                    *way = self.ends(&way.args, never);
                } else if !own.contains(&way.block) {
                    *way = self.ends(before, index);
                }
            }
        }
        if self.is_harmless {
            for (&block, &copied) in &self.copy.blocks {
                let is_before = |of: Block| of != block && self.dominators.dominates(of, block);
                let known = leaving.iter().filter(|(of, ..)| is_before(*of));
                let known: Vec<(Value, bool)> =
                    known.map(|&(_, cond, is_leaving)| (cond, is_leaving)).collect();
                guard(func, copied, is_live, &known);
            }
        }
        leaving
    }

    /// Goes on from where the other loop came to.
    fn exit(&self, func: &mut Function, stretch: &Stretch, iteration: &Iteration) {
        let &Stretch { ref now, at, size, trips, last } = stretch;
        let mut b = Builder::at(func, self.behind);
        b.set_span(self.left.shape.span);
        let done = b.binary(BinaryOp::Umin, iteration.stop, trips);
        let reached =
            self.all(&iteration.reached, |number, growth| grown(&mut b, now[number], done, growth));
        let at = grown(&mut b, at, done, self.left.step);
        let limit_of_size = b.i32(MAX_STRETCH as i32);
        let twice = b.iadd(size, size);
        let twice = b.binary(BinaryOp::Umin, twice, limit_of_size);
        let is_left = b.value(Op::Icmp(IntCond::Slt, done, trips));
        let out = BlockCall { block: self.enter, args: [&reached[..], &[last]].concat() };
        let more = BlockCall { block: self.look, args: [&reached[..], &[at, twice]].concat() };
        b.terminate(Terminator::Branch(is_left, out, more));
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
