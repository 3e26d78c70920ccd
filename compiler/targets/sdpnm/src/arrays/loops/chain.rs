//! Nests whose trips are known at run time only get a second version that is one loop, which only an array
//! runs: where each loop runs at least once, and all together not too often, and where all accesses are
//! inside; else the nest runs as it is. What its loops count are operations of their own
//! ([`crate::arrays::iteration::turns`]), of which subscripts become walks: sums that grow by as much as the innermost loop
//! asks for, and where an outer one goes on, by something else, which the core computes before.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Loop, LoopForest};
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, Constant, Dominators, Effect, Function, IntCond,
    IntrinsicCall, Op, Replacements, Terminator, Type, Value,
};
use nbcc_opt::clone_blocks::ClonedBlocks;
use nbcc_opt::{cse, dce, fold, licm, params, unreachable};

use super::coalesce::{coalesce, meet_behind};
use super::keep;
use super::merge::enter_by_jump;
use super::nest::{Carried, Counts, Nest};
use super::sums::begin_at_zero;
use crate::arrays::facts::shape::{Shape, Trips};
use crate::arrays::facts::walks::settle;
use crate::arrays::iteration::turns::{MAY, call};
use crate::arrays::versions::version::{can_count, iterations, results};

/// Loops of a nest at most.
const MOST_LOOPS: usize = 6;

/// A nest with a version that is one loop.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The header of that.
    pub header: Block,
    /// The block that leads to it, or to the nest.
    pub from: Block,
    /// The block that leads to the nest.
    pub instead: Block,
    /// The headers of the nest, the innermost first.
    pub nest: Vec<Block>,
}

/// Gives nests second versions that are one loop; `cycles` says the interval and about how many cycles an
/// iteration of the innermost loop takes, of the loop of a header that is made of so many.
pub fn run(
    func: &mut Function,
    cycles: impl Fn(&Function, Block, usize) -> Option<(f64, f64)>,
) -> Vec<Chain> {
    let mut made = Vec::new();
    for nest in nests(func) {
        let (interval, one) = cycles(func, nest[0], 1).unwrap_or((f64::INFINITY, f64::INFINITY));
        let tried = (2..=nest.len()).rev().filter_map(|depth| {
            let (trial, chain) = chained(func, &nest[..depth])?;
            let (own, cycles) = cycles(&trial, chain.header, depth)?;
            // Where loops run often, an interval counts for more than what starting takes.
            (own <= 2.0 * interval).then_some((cycles, trial, chain))
        });
        let best = tried.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|best| best.0 < one);
        if let Some((_, trial, chain)) = best {
            *func = trial;
            made.push(chain);
        }
    }
    made
}

/// The headers of innermost loops and of those around each that have no other loop inside.
fn nests(func: &Function) -> Vec<Vec<Block>> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let innermost = forest.loops.iter().filter(|(_, data)| data.inner.is_empty());
    let around = |(_, data): (Loop, &nbcc_analysis::LoopData)| {
        let mut found = vec![data.header];
        let mut parent = data.parent;
        while let Some(l) = parent.filter(|&l| forest.loops[l].inner.len() == 1) {
            found.push(forest.loops[l].header);
            parent = forest.loops[l].parent;
        }
        found.truncate(MOST_LOOPS);
        found
    };
    let is_seldom = |nest: &Vec<Block>| func.blocks[nest[0]].cold;
    innermost.map(around).filter(|nest| nest.len() > 1 && !is_seldom(nest)).collect()
}

/// The function in which a nest of loops of those headers has a second version.
fn chained(func: &Function, nest: &[Block]) -> Option<(Function, Chain)> {
    let mut trial = func.clone();
    for &header in nest {
        enter_by_jump(&mut trial, header);
    }
    let func = &mut trial;
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let loops: Vec<Loop> =
        nest.iter().map(|&header| forest.headed_by(header)).collect::<Option<_>>()?;
    let shapes: Vec<Shape> =
        loops.iter().map(|&l| Shape::around(func, &cfg, &forest, l).ok()).collect::<Option<_>>()?;
    let outer = shapes.last()?.clone();
    let all = forest.blocks(*loops.last()?);

    // What must hold, and how often each loop runs.
    let from = outer.preheader;
    let mut conditions = Vec::new();
    let mut counts = Vec::new();
    for shape in &shapes {
        counts.push(count(func, from, shape, &outer, &mut conditions)?);
    }
    let guards = guards(func, &forest, &loops, nest);
    for &(_, cond, is_then) in guards.values() {
        let value = hoist(func, from, cond, &outer, MAX_FOLLOWED)?;
        let mut b = Builder::at(func, from);
        conditions.push(match is_then {
            true => value,
            false => b.unary(nbcc_ir::UnaryOp::Not, value),
        });
    }

    // The copy, and a block behind both versions.
    let used = results(func, &outer);
    let copy = ClonedBlocks::before(func, &all, outer.header);
    for (block, &(to, ..)) in &guards {
        let terminator = func.blocks[copy.blocks[block]].terminator.take()?;
        let mut ways = terminator.successors().into_iter();
        let way = ways.find(|way| way.block == copied(&copy, to))?.clone();
        func.blocks[copy.blocks[block]].terminator = Some(Terminator::Jump(way));
    }
    let [instead, look, enter] = [(); 3].map(|()| func.add_block());
    for block in [instead, look, enter] {
        func.blocks[block].span = outer.span;
    }
    meet_behind(func, &outer, &all, &copy, used);
    let to = |block| BlockCall { block, args: vec![] };
    let entry = |block| Terminator::Jump(BlockCall { block, args: outer.entry_args.clone() });
    func.blocks[instead].terminator = Some(entry(outer.header));
    func.blocks[enter].terminator = Some(entry(copy.blocks[&outer.header]));
    let mut b = Builder::at(func, from);
    let fits = conditions.into_iter().reduce(|all, more| b.binary(BinaryOp::And, all, more));
    let fits = fits.unwrap_or_else(|| b.constant(Type::I1, 1));
    // Both ways stay until it is known whether an array runs the one.
    let may = call(&mut b, MAY, vec![], vec![]);
    let fits = b.binary(BinaryOp::And, fits, may);
    func.blocks[from].terminator = Some(Terminator::Branch(fits, to(look), to(instead)));
    let mut b = Builder::at(func, look);
    b.set_span(outer.span);
    let fits = turning(&mut b, &counts);
    func.blocks[look].terminator = Some(Terminator::Branch(fits, to(enter), to(instead)));
    unreachable::run(func);

    join(func, copy.blocks.values().copied().collect());

    // One loop of the copy, from the inside out.
    let mut header = copy.blocks[&nest[0]];
    if keep::run_inside(func, header) {
        dce::run(func);
    }
    let mut is_parallel = false;
    for (level, outer) in nest.iter().enumerate().skip(1) {
        let outer = copy.blocks[outer];
        enter_by_jump(func, header);
        enter_by_jump(func, outer);
        let [counts, totals, _] = turned(func, look)?;
        let counts =
            Counts { lists: [counts[..level].to_vec(), vec![counts[level]]], total: totals[level] };
        begin_at_zero(func, &Nest::counted(func, outer, counts.clone())?);
        let nest = Nest::counted(func, outer, counts)?;
        is_parallel = nest.outside.iter().all(|carried| matches!(carried, Carried::Grows(_)));
        header = coalesce(func, &nest, 1);
        for clean in [fold::run, cse::run, dce::run, params::run] {
            clean(func);
        }
    }
    let [counts, _, marks] = turned(func, look)?;
    settle(func, header, (&counts, &marks), is_parallel)?;
    func.blocks[look].insts.retain(|&inst| !is_turned(&func.insts[inst].op));
    for clean in [fold::run, cse::run, licm::run, dce::run, params::run, dce::run] {
        clean(func);
    }
    Some((trial, Chain { header, from, instead, nest: nest.to_vec() }))
}

/// Makes blocks part of those that alone lead to them.
fn join(func: &mut Function, blocks: BTreeSet<Block>) {
    let mut names = Replacements::new();
    let mut work: Vec<Block> = blocks.iter().copied().collect();
    while let Some(block) = work.pop() {
        if !func.layout.contains(&block) {
            continue;
        }
        let Terminator::Jump(to) = func.terminator(block).clone() else { continue };
        let cfg = Cfg::new(func);
        if !blocks.contains(&to.block) || cfg.predecessors(to.block) != [block] {
            continue;
        }
        let next = &mut func.blocks[to.block];
        let (params, insts) = (std::mem::take(&mut next.params), std::mem::take(&mut next.insts));
        let terminator = next.terminator.take();
        for (param, arg) in params.into_iter().zip(to.args) {
            names.replace(param, arg);
        }
        func.blocks[block].insts.extend(insts);
        func.blocks[block].terminator = terminator;
        func.layout.retain(|&other| other != to.block);
        work.push(block);
    }
    names.apply(func);
}

fn copied(copy: &ClonedBlocks, block: Block) -> Block {
    copy.blocks.get(&block).copied().unwrap_or(block)
}

/// Answers what was left open in [`run`].
pub fn close(func: &mut Function) {
    for block in func.layout.clone() {
        for &inst in &func.blocks[block].insts {
            let op = &mut func.insts[inst].op;
            if matches!(op, Op::Intrinsic(call) if call.name == MAY) {
                *op = Op::Const(Type::I1, Constant::Splat(1));
            }
        }
    }
}

/// How often a loop runs, and under which conditions that is so, where that is known before all loops.
fn count(
    func: &mut Function,
    from: Block,
    shape: &Shape,
    outer: &Shape,
    conditions: &mut Vec<Value>,
) -> Option<Value> {
    if !can_count(func, shape) {
        return None;
    }
    let mut shape = shape.clone();
    if let Trips::While { cond, value, step, limit } = shape.trips {
        let limit = hoist(func, from, limit, outer, MAX_FOLLOWED)?;
        let slice = shape.slice(func, value)?;
        let mut read: Vec<Value> = slice.iter().flat_map(|&i| func.insts[i].op.args()).collect();
        read.push(value);
        // What the sum is made of stays what it is in all of the nest.
        if read.iter().any(|&value| !shape.defines(func, value) && outer.defines(func, value)) {
            return None;
        }
        for (number, &param) in func.blocks[shape.header].params.clone().iter().enumerate() {
            if read.contains(&param) {
                let first = shape.entry_args[number];
                shape.entry_args[number] = hoist(func, from, first, outer, MAX_FOLLOWED)?;
            }
        }
        shape.trips = Trips::While { cond, value, step, limit };
    }
    let mut b = Builder::at(func, from);
    b.set_span(shape.span);
    let (trips, more) = iterations(&mut b, &shape, 1);
    conditions.extend(more);
    Some(trips)
}

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 12;

/// A value made at the end of a block in front of a loop, where it does not depend on that.
fn hoist(
    func: &mut Function,
    from: Block,
    value: Value,
    outer: &Shape,
    depth: u32,
) -> Option<Value> {
    if !outer.defines(func, value) {
        return Some(value);
    }
    let inst = func.def_inst(value).filter(|_| depth > 0)?;
    let op = func.insts[inst].op.clone();
    let may_move = match op {
        Op::Const(..) | Op::Icmp(..) | Op::Convert(..) | Op::Select(..) => true,
        Op::Binary(op, ..) => {
            !matches!(op, BinaryOp::Sdiv | BinaryOp::Udiv | BinaryOp::Srem | BinaryOp::Urem)
        }
        _ => false,
    };
    if !may_move || func.ty(value).is_vector() {
        return None;
    }
    let mut made = BTreeMap::new();
    for arg in op.args() {
        made.insert(arg, hoist(func, from, arg, outer, depth - 1)?);
    }
    let op = op.map_args(|arg| made[&arg]);
    Some(Builder::at(func, from).value(op))
}

/// The branches that lead past the next loop, by their blocks: where they lead to it, what they ask, and
/// whether it holds then.
fn guards(
    func: &Function,
    forest: &LoopForest,
    loops: &[Loop],
    nest: &[Block],
) -> BTreeMap<Block, (Block, Value, bool)> {
    let mut found = BTreeMap::new();
    for (level, &l) in loops.iter().enumerate().skip(1) {
        let inner = nest[level - 1];
        let leads = |from: Block| {
            let mut seen = vec![from];
            let mut next = 0;
            while let Some(&at) = seen.get(next) {
                next += 1;
                if at == inner {
                    return true;
                }
                for block in nbcc_ir::cfg::successors(func, at) {
                    let is_inside = block != nest[level] && forest.contains(l, block);
                    if is_inside && !seen.contains(&block) {
                        seen.push(block);
                    }
                }
            }
            false
        };
        for &block in &forest.loops[l].own {
            let Terminator::Branch(cond, then, other) = func.terminator(block) else { continue };
            let (then, other) = (then.block, other.block);
            let is_latch = [then, other].contains(&nest[level]);
            match (leads(then), leads(other)) {
                (true, false) if !is_latch => found.insert(block, (then, *cond, true)),
                (false, true) if !is_latch => found.insert(block, (other, *cond, false)),
                _ => None,
            };
        }
    }
    found
}

/// Keeps values by their names while a function changes: how often loops run, the innermost first, the
/// products of the first of these, and by what words grow that carry where so many loops begin.
const TURNED: &str = "sdpnm.turned";

/// Makes these values of how often loops run, and whether the words carry where they should: not if there
/// are too many iterations.
fn turning(b: &mut Builder<'_>, counts: &[Value]) -> Value {
    let all = b.i32(-1);
    let (mut totals, mut marks) = (vec![counts[0]], Vec::new());
    let mut conditions = Vec::new();
    for (level, &count) in counts.iter().enumerate().skip(1) {
        let before = totals[level - 1];
        let mark = b.binary(BinaryOp::Udiv, all, before);
        // The product does not wrap.
        conditions.push(b.value(Op::Icmp(IntCond::Ule, count, mark)));
        marks.push(mark);
        totals.push(b.imul(before, count));
    }
    let total = totals[counts.len() - 1];
    for &mark in &marks {
        conditions.push(b.value(Op::Icmp(IntCond::Ult, total, mark)));
    }
    let args = [counts, &totals[..], &marks[..]].concat();
    let (mems, imms) = (vec![], vec![]);
    let effect = Effect::Write;
    b.op(Op::Intrinsic(IntrinsicCall { name: TURNED, effect, args, mems, imms, result: None }));
    let fits = conditions.into_iter().reduce(|all, more| b.binary(BinaryOp::And, all, more));
    fits.expect("a nest has several loops")
}

fn is_turned(op: &Op) -> bool {
    matches!(op, Op::Intrinsic(call) if call.name == TURNED)
}

/// What [`turning`] made in a block, by the names that it has now.
fn turned(func: &Function, block: Block) -> Option<[Vec<Value>; 3]> {
    let mut ops = func.blocks[block].insts.iter().map(|&inst| &func.insts[inst].op);
    let args = ops.find(|op| is_turned(op))?.args();
    let depth = args.len().div_ceil(3);
    let parts: Vec<Vec<Value>> = args.chunks(depth).map(<[Value]>::to_vec).collect();
    parts.try_into().ok()
}
