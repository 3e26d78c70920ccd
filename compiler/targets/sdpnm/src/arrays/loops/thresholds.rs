//! Loops that ask in each iteration whether their counter has come to what they do not change, before they load what
//! they have stored, as `if (i >= d) t += y[i - d]`: the iterations before that stand in a loop of their own (index
//! set splitting: Wolfe, "High performance compilers for parallel computing", 1996, section 9.5), so that the others
//! know that what they load is inside.

use std::collections::BTreeSet;

use nbcc_analysis::LoopForest;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, Dominators, Function, IntCond, Op, Terminator, Type,
    Value,
};
use nbcc_opt::clone_blocks::ClonedBlocks;
use nbcc_opt::{cse, dce, fold, params, ranges, simplify_cfg, unreachable};

use super::borders::stored_to;
use crate::arrays::facts::shape::Shape;

/// Operations of a loop at most: they stand twice.
const MAX_OPERATIONS: usize = 100;

/// Loops that are taken apart at most.
const MOST_LOOPS: usize = 8;

/// Takes such loops apart; whether there are some.
pub fn run(func: &mut Function) -> bool {
    let mut done = BTreeSet::new();
    let mut count = 0;
    while count < MOST_LOOPS
        && let Some(apart) = find(func, &mut done)
    {
        take(func, &apart);
        params::run(func);
        for clean in [fold::run, ranges::run, fold::run, cse::run, simplify_cfg::run, dce::run] {
            clean(func);
        }
        params::run(func);
        count += 1;
    }
    count > 0
}

/// A loop that is taken apart.
struct Apart {
    shape: Shape,
    /// The number of the parameter that counts up to a limit, one by one.
    counter: usize,
    limit: Value,
    /// From where on a block always goes one way, and before it never.
    threshold: Value,
    asks: Block,
    later: usize,
}

fn find(func: &Function, done: &mut BTreeSet<Block>) -> Option<Apart> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    forest.loops.keys().find_map(|l| {
        let header = forest.loops[l].header;
        let is_new = !func.blocks[header].cold && done.insert(header);
        let shape = is_new.then(|| Shape::new(func, &cfg, &forest, l).ok()).flatten()?;
        apart(func, &cfg, shape)
    })
}

fn apart(func: &Function, cfg: &Cfg, shape: Shape) -> Option<Apart> {
    let insts = || shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    if insts().count() > MAX_OPERATIONS || is_used_behind(func, &shape) {
        return None;
    }
    // It goes on as long as the counter of the next iteration is less than the limit.
    let Terminator::Branch(asked, then, _) = func.terminator(shape.latch) else { return None };
    let Some(&Op::Icmp(IntCond::Slt, next, limit)) = func.def_op(*asked) else { return None };
    let counter = shape.back_args.iter().position(|&arg| arg == next)?;
    let param = func.blocks[shape.header].params[counter];
    let is_counted = then.block == shape.header
        && func.ty(param) == Type::I32
        && shape.growth(func, counter) == Some(1)
        && !shape.defines(func, limit);
    if !is_counted {
        return None;
    }
    let stored = stored_to(func, insts());
    let loads_stored = |block: Block| {
        let is_it = |op: &Op| matches!(op, Op::Load(_, mem, _) if stored.contains(mem));
        let mut insts = func.blocks[block].insts.iter();
        shape.contains(block)
            && cfg.predecessors(block).len() == 1
            && insts.any(|&inst| is_it(&func.insts[inst].op))
    };
    shape.blocks.iter().filter(|&&block| block != shape.latch).find_map(|&asks| {
        let Terminator::Branch(asked, then, other) = func.terminator(asks) else { return None };
        let &Op::Icmp(cond, a, threshold) = func.def_op(*asked)? else { return None };
        let (is_then, later) = match cond {
            IntCond::Sge => (0, then),
            IntCond::Slt => (1, other),
            _ => return None,
        };
        let is_it = a == param && !shape.defines(func, threshold) && loads_stored(later.block);
        is_it.then(|| {
            let shape = shape.clone();
            Apart { shape, counter, limit, threshold, asks, later: is_then }
        })
    })
}

/// Whether values of a loop are used behind it that it does not hand over.
fn is_used_behind(func: &Function, shape: &Shape) -> bool {
    let mut is_used = false;
    let mut note = |value: Value| is_used |= shape.defines(func, value);
    for &block in func.layout.iter().filter(|&&block| !shape.contains(block)) {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(&mut note);
        }
        func.terminator(block).for_each_arg(&mut note);
    }
    is_used
}

fn take(func: &mut Function, apart: &Apart) {
    let Apart { shape, counter, limit, threshold, asks, later } = apart;
    let copy = ClonedBlocks::before(func, &shape.blocks, shape.header);
    let named = |value: Value| copy.values[value].unwrap_or(value);
    for header in [shape.header, copy.blocks[&shape.header]] {
        if let Some(info) = &mut func.blocks[header].loop_info {
            info.trips = None;
        }
    }
    let behind = func.add_block();
    func.blocks[behind].span = shape.span;

    // Which of the two is entered, and where the first one ends.
    let known = |b: &mut Builder<'_>, value: Value| match b.func.splat_constant(value) {
        Some(bits) => b.i32(bits as u32 as i32),
        None => value,
    };
    let mut b = Builder::at(func, shape.preheader);
    b.set_span(shape.span);
    let (limit, threshold) = (known(&mut b, *limit), known(&mut b, *threshold));
    let end = b.binary(BinaryOp::Smin, limit, threshold);
    let is_before = b.value(Op::Icmp(IntCond::Slt, shape.entry_args[*counter], threshold));
    let into = |block: Block| BlockCall { block, args: shape.entry_args.clone() };
    let first = copy.blocks[&shape.header];
    b.terminate(Terminator::Branch(is_before, into(first), into(shape.header)));

    // The first loop.
    let back: Vec<Value> = shape.back_args.iter().map(|&arg| named(arg)).collect();
    let next = back[*counter];
    let mut b = Builder::at(func, copy.blocks[&shape.latch]);
    b.set_span(shape.span);
    let goes_on = b.value(Op::Icmp(IntCond::Slt, next, end));
    let again = BlockCall { block: first, args: back.clone() };
    b.terminate(Terminator::Branch(goes_on, again, BlockCall { block: behind, args: vec![] }));
    b.switch_to(behind);
    let goes_on = b.value(Op::Icmp(IntCond::Slt, end, limit));
    let mut args = back;
    args[*counter] = end;
    let exit = shape.exit.args.iter().map(|&arg| named(arg)).collect();
    let on = BlockCall { block: shape.header, args };
    b.terminate(Terminator::Branch(goes_on, on, BlockCall { block: shape.exit.block, args: exit }));

    // What each of them is never asked.
    for (block, way) in [(copy.blocks[asks], 1 - later), (*asks, *later)] {
        if let Some(Terminator::Branch(_, then, other)) = func.blocks[block].terminator.clone() {
            func.blocks[block].terminator =
                Some(Terminator::Jump(if way == 0 { then } else { other }));
        }
    }
    unreachable::run(func);
}
