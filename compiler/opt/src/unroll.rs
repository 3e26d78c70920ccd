//! Loop unrolling: the body of a loop stands several times, so that work of several iterations can
//! overlap and what counts them is known or counted once (Muchnick, "Advanced Compiler Design and
//! Implementation", section 17.4.2). Iterations that the factor leaves over run first, in copies
//! before the loop.
//!
//! Only loops without loops inside, left by their one way back, of a known number of trips. A loop
//! unrolled wholly is gone, and the one around it may be next. One with loops inside is unrolled where
//! that is asked for it alone.

use std::collections::BTreeSet;

use nbcc_analysis::{Loop, LoopForest};
use nbcc_ir::{Block, BlockCall, Cfg, Counter, Dominators, Function, Terminator, Value};

use crate::clone_blocks::ClonedBlocks;
use crate::simplify_cfg;

/// A loop that can be unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Its blocks, the header first.
    pub blocks: &'a [Block],
    /// How often it runs, at least twice.
    pub trips: u64,
}

/// Unrolls short loops wholly and others three times.
pub fn run(func: &mut Function) -> bool {
    run_where(func, |_, candidate| if candidate.trips <= 4 { candidate.trips } else { 3 })
}

/// Unrolls each loop as many times as `factor` says: 1 leaves it, its trips make it go away.
pub fn run_where(func: &mut Function, factor: impl FnMut(&Function, Candidate<'_>) -> u64) -> bool {
    unroll_each(func, factor, |func, _| {
        simplify_cfg::run(func);
    })
}

/// Unrolls wholly the loops for which `whole` holds. Their iterations stay blocks of their own, which begin
/// with the blocks that are given back.
pub fn run_apart(
    func: &mut Function,
    mut whole: impl FnMut(&Function, Candidate<'_>) -> bool,
) -> BTreeSet<Block> {
    let mut starts: BTreeSet<Block> = BTreeSet::new();
    let times = |func: &Function, candidate: Candidate<'_>| match whole(func, candidate) {
        true => candidate.trips,
        false => 1,
    };
    unroll_each(func, times, |_, iterations| {
        // Iterations of loops inside have been copied with what is around them.
        let mut copied = Vec::new();
        for copy in &iterations.copies {
            copied.extend(starts.iter().filter_map(|start| copy.blocks.get(start)));
        }
        starts.extend(iterations.headers.iter().copied().chain(copied));
    });
    starts
}

/// Unrolls loops; `after` sees the iterations of each.
fn unroll_each(
    func: &mut Function,
    mut factor: impl FnMut(&Function, Candidate<'_>) -> u64,
    mut after: impl FnMut(&mut Function, &Iterations),
) -> bool {
    let mut changed = false;
    let mut done: BTreeSet<Block> = BTreeSet::new();
    loop {
        let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
        let forest = LoopForest::new(&cfg, &dominators);
        // Loops that were met before stay met: new ones are those around loops that are gone.
        let mut found = None;
        for l in forest.loops.keys() {
            let data = &forest.loops[l];
            if !data.inner.is_empty() || !done.insert(data.header) {
                continue;
            }
            let Some((latch, trips)) = shape(func, &forest, l) else { continue };
            let times = factor(func, Candidate { blocks: &data.own, trips }).clamp(1, trips);
            if times > 1 {
                found = Some((data.own.clone(), latch, trips, times));
                break;
            }
        }
        let Some((blocks, latch, trips, times)) = found else { return changed };
        let iterations = unroll(func, &blocks, latch, trips, times);
        done.extend(iterations.left);
        after(func, &iterations);
        changed = true;
    }
}

/// Lets the first iteration of a loop that runs twice at least, loops inside it included, stand before it.
/// False where the loop is left in other ways than by its one way back.
pub fn peel(func: &mut Function, header: Block) -> bool {
    let Some((blocks, latch)) = whole(func, header) else { return false };
    unroll_once(func, &blocks, latch);
    simplify_cfg::run(func);
    true
}

/// Lets all iterations of a loop, loops inside it included, stand one behind the other. False where the
/// loop is left in other ways than by its one way back, or nobody knows how often it runs.
pub fn flatten(func: &mut Function, header: Block) -> bool {
    let trips = func.blocks[header].loop_info.as_ref().and_then(|info| info.trips);
    let (Some(trips), Some((blocks, latch))) = (trips, whole(func, header)) else { return false };
    unroll(func, &blocks, latch, trips, trips);
    simplify_cfg::run(func);
    true
}

/// All blocks of a loop, its header first, and its latch, if it is left there only.
fn whole(func: &Function, header: Block) -> Option<(Vec<Block>, Block)> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let l = forest.headed_by(header)?;
    let latch = latch(func, &forest, l)?;
    forest.exits(func, l).iter().all(|&(from, _)| from == latch).then(|| (forest.blocks(l), latch))
}

/// A copy of a loop before it, for one iteration.
fn unroll_once(func: &mut Function, blocks: &[Block], latch: Block) {
    let header = blocks[0];
    let outside: Vec<Block> =
        func.layout.iter().copied().filter(|block| !blocks.contains(block)).collect();
    let copy = ClonedBlocks::before(func, blocks, header);
    for block in outside {
        let Some(terminator) = func.blocks[block].terminator.as_mut() else { continue };
        for to in terminator.successors_mut().into_iter().filter(|to| to.block == header) {
            to.block = copy.blocks[&header];
        }
    }
    let from = copy.blocks[&latch];
    let back = func.terminator(from).successors().into_iter();
    let args = back.filter(|to| to.block == copy.blocks[&header]).map(|to| to.args.clone()).next();
    let to = BlockCall { block: header, args: args.unwrap_or_default() };
    func.blocks[from].terminator = Some(Terminator::Jump(to));
    func.blocks[copy.blocks[&header]].loop_info = None;
    if let Some(info) = &mut func.blocks[header].loop_info {
        info.trips = info.trips.map(|trips| trips - 1);
    }
}

/// The latch of a loop and its trips, if it is left there only.
fn shape(func: &Function, forest: &LoopForest, l: Loop) -> Option<(Block, u64)> {
    let header = forest.loops[l].header;
    let trips = func.blocks[header].loop_info.as_ref()?.trips.filter(|&trips| trips > 1)?;
    Some((latch(func, forest, l)?, trips))
}

/// The latch of a loop, if it is left there only.
pub(crate) fn latch(func: &Function, forest: &LoopForest, l: Loop) -> Option<Block> {
    let data = &forest.loops[l];
    let &[latch] = &data.latches[..] else { return None };
    let Terminator::Branch(_, a, b) = func.terminator(latch) else { return None };
    let back = [a, b].into_iter().filter(|to| to.block == data.header).count();
    let leaves = |&block: &Block| {
        let successors = func.terminator(block).successors();
        block != latch && successors.iter().any(|to| !forest.contains(l, to.block))
    };
    let outside = [a, b].into_iter().any(|to| !forest.contains(l, to.block));
    (back == 1 && outside && data.header != func.entry() && !data.own.iter().any(leaves))
        .then_some(latch)
}

/// What became of a loop.
struct Iterations {
    /// The blocks with which they begin.
    headers: Vec<Block>,
    /// All but the last.
    copies: Vec<ClonedBlocks>,
    /// The header of what is left of the loop.
    left: Option<Block>,
}

/// Unrolls a loop.
fn unroll(
    func: &mut Function,
    blocks: &[Block],
    latch: Block,
    trips: u64,
    times: u64,
) -> Iterations {
    let header = blocks[0];
    let ahead = trips % times;
    let rounds = trips / times;
    let inside: BTreeSet<Block> = blocks.iter().copied().collect();
    // The loop itself is the last of the copies: what is used behind it is what the last made.
    let copies: Vec<ClonedBlocks> =
        (1..ahead + times).map(|_| ClonedBlocks::before(func, blocks, header)).collect();
    let headers: Vec<Block> =
        copies.iter().map(|copy| copy.blocks[&header]).chain([header]).collect();
    for &block in func.layout.clone().iter().filter(|block| !inside.contains(block)) {
        // Copies lead to the headers of their own.
        let Some(terminator) = func.blocks[block].terminator.as_mut() else { continue };
        for to in terminator.successors_mut().into_iter().filter(|to| to.block == header) {
            to.block = headers[0];
        }
    }
    let back = |func: &Function, latch: Block, header: Block| -> Vec<Value> {
        let successors = func.terminator(latch).successors();
        successors.iter().find(|to| to.block == header).map_or(vec![], |to| to.args.clone())
    };
    for (copy, &next) in copies.iter().zip(&headers[1..]) {
        let from = copy.blocks[&latch];
        let args = back(func, from, copy.blocks[&header]);
        func.blocks[from].terminator = Some(Terminator::Jump(BlockCall { block: next, args }));
    }
    let info = func.blocks[header].loop_info.take();
    for copy in &copies {
        func.blocks[copy.blocks[&header]].loop_info = None;
    }
    let first = headers[ahead as usize];
    let mut terminator = func.terminator(latch).clone();
    if rounds == 1 {
        let exit =
            terminator.successors().iter().find(|to| to.block != header).map(|&to| to.clone());
        func.blocks[latch].terminator = exit.map(Terminator::Jump);
        return Iterations { headers, copies, left: None };
    }
    for to in terminator.successors_mut().into_iter().filter(|to| to.block == header) {
        to.block = first;
    }
    func.blocks[latch].terminator = Some(terminator);
    let value_in_first = |value: Value| match copies.get(ahead as usize) {
        Some(copy) => copy.values[value].unwrap_or(value),
        None => value,
    };
    func.blocks[first].loop_info = info.map(|mut info| {
        info.trips = Some(rounds);
        let count = |Counter { value, step }| {
            let step = step.checked_mul(times as i64)?;
            Some(Counter { value: value_in_first(value), step })
        };
        info.counter = info.counter.and_then(count);
        info
    });
    Iterations { headers, copies, left: Some(first) }
}
