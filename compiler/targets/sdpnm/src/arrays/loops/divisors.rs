//! Divisions by what is known before a loop, as by the length of a window: the loop stands twice, and the
//! core asks before it whether divisors are 0. Where none is, quotients are products with reciprocals
//! ([`super::divisions`]); otherwise the loop is as it was, and ends the run where it has to.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Loop, LoopForest, ValueRanges};
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, Dominators, Function, Inst, IntCond, Op, Terminator,
    Value,
};
use nbcc_opt::clone_blocks::ClonedBlocks;

use super::coalesce::meet_behind;
use super::divisions::{self, Divisor, Found, Way};
use super::merge::enter_by_jump;
use crate::arrays::facts::shape::Shape;
use crate::arrays::versions::version::results;

/// Instructions of a loop at most: they stand twice.
const MAX_INSTRUCTIONS: usize = 2000;

/// Gives loops a version without the divisions whose divisors are known before, the outermost first.
pub fn run(func: &mut Function) -> bool {
    let mut done = BTreeSet::new();
    let mut changed = false;
    while let Some(header) = next(func, &mut done) {
        enter_by_jump(func, header);
        changed |= reciprocals(func, header).is_some();
    }
    changed
}

/// The header of a loop with such divisions, of those that do not run seldom.
fn next(func: &Function, done: &mut BTreeSet<Block>) -> Option<Block> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let mut loops: Vec<Loop> = forest.loops.keys().collect();
    loops.sort_by_key(|&l| forest.loops[l].depth);
    let has_some = |l: &Loop| {
        let blocks = forest.blocks(*l);
        let inside = |block: Block| blocks.contains(&block);
        let count: usize = blocks.iter().map(|&block| func.blocks[block].insts.len()).sum();
        count <= MAX_INSTRUCTIONS && !divided(func, &blocks, inside).is_empty()
    };
    let is_new = |l: &&Loop| {
        let header = forest.loops[**l].header;
        !func.blocks[header].cold && done.insert(header)
    };
    loops.iter().filter(is_new).find(|&l| has_some(l)).map(|&l| forest.loops[l].header)
}

/// A division in a block: its number, its divisor, and whether they have signs.
type Division = (Block, Inst, (Value, Value, bool));

/// The divisions in blocks by what is no constant and is not made there.
fn divided(func: &Function, blocks: &[Block], inside: impl Fn(Block) -> bool) -> Vec<Division> {
    let made: BTreeSet<Inst> =
        blocks.iter().flat_map(|&block| &func.blocks[block].insts).copied().collect();
    let is_before = |value: Value| match func.values[value].def {
        nbcc_ir::ValueDef::Param(block, _) => !inside(block),
        nbcc_ir::ValueDef::Result(inst, _) => !made.contains(&inst),
    };
    let mut found = Vec::new();
    for &block in blocks {
        for &inst in &func.blocks[block].insts {
            let of = divisions::division(func, inst);
            found.extend(
                of.filter(|&(_, by, _)| func.splat_constant(by).is_none() && is_before(by))
                    .map(|of| (block, inst, of)),
            );
        }
    }
    found
}

/// Gives a loop a second version.
fn reciprocals(func: &mut Function, header: Block) -> Option<()> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let l = forest.headed_by(header)?;
    let outer = Shape::around(func, &cfg, &forest, l).ok()?;
    let blocks = forest.blocks(l);
    let found = divided(func, &blocks, |block| blocks.contains(&block));
    let ranges = ValueRanges::new(func);
    // What may be 0, and what has no sign.
    let mut asked = BTreeSet::new();
    let mut made: BTreeMap<(Value, bool, bool), usize> = BTreeMap::new();
    let mut ways = Vec::new();
    for &(block, inst, (number, by, signed)) in &found {
        let is_one_sign =
            ranges.fits(by, 1, u32::MAX.into()) || ranges.fits(by, i32::MIN.into(), -1);
        if !is_one_sign {
            asked.insert(by);
        }
        let is_signed = signed && !ranges.fits(by, 0, i32::MAX.into());
        let size = divisions::magnitude(&ranges, number, signed);
        let count = made.len();
        let of = *made.entry((by, is_signed, size.1)).or_insert(count);
        ways.push((block, inst, size, of));
    }
    drop(ranges);

    if !asked.is_empty() {
        seldom(func, &outer, &blocks, &asked);
    }
    // Where the loop is entered without being 0.
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let l = forest.headed_by(header)?;
    let from = *cfg.predecessors(header).iter().find(|&&block| !forest.contains(l, block))?;
    let mut b = Builder::at(func, from);
    b.set_span(outer.span);
    let mut divisors: Vec<(usize, Divisor)> = made
        .iter()
        .map(|(&(by, is_signed, is_half), &number)| {
            (number, divisions::divisor(&mut b, by, is_signed, is_half))
        })
        .collect();
    divisors.sort_by_key(|of| of.0);
    let found: Vec<Found> = ways
        .into_iter()
        .map(|(block, inst, (is_signed, is_half), of)| {
            (block, inst, Way::Near { by: divisors[of].1, is_signed, is_half }, false)
        })
        .collect();
    divisions::replace(func, &found);
    Some(())
}

/// Lets a copy of a loop run where one of several values is 0.
fn seldom(func: &mut Function, outer: &Shape, blocks: &[Block], asked: &BTreeSet<Value>) {
    otherwise(func, outer, blocks, |b| {
        let zero = b.i32(0);
        let each: Vec<Value> =
            asked.iter().map(|&by| b.value(Op::Icmp(IntCond::Ne, by, zero))).collect();
        each.into_iter().reduce(|all, more| b.binary(BinaryOp::And, all, more)).expect("a question")
    });
}

/// Lets a copy of a loop, which is thought to run seldom, run where a condition that is asked before the loop
/// does not hold.
pub(super) fn otherwise(
    func: &mut Function,
    outer: &Shape,
    blocks: &[Block],
    ask: impl FnOnce(&mut Builder<'_>) -> Value,
) {
    let copy = twice(func, outer, blocks, ask);
    let copies: Vec<Block> = copy.blocks.values().copied().collect();
    let enters = func.layout.iter().copied().filter(|&block| {
        let Terminator::Jump(to) = func.terminator(block) else { return false };
        to.block == copy.blocks[&outer.header] && !copies.contains(&block)
    });
    let enters: Vec<Block> = enters.collect();
    for block in copies.into_iter().chain(enters) {
        func.blocks[block].cold = true;
    }
}

/// Lets a copy of a loop run where a condition that is asked before the loop does not hold.
pub(super) fn twice(
    func: &mut Function,
    outer: &Shape,
    blocks: &[Block],
    ask: impl FnOnce(&mut Builder<'_>) -> Value,
) -> ClonedBlocks {
    let used = results(func, outer);
    let copy = ClonedBlocks::before(func, blocks, outer.header);
    let [enter, instead] = [(); 2].map(|()| func.add_block());
    for block in [enter, instead] {
        func.blocks[block].span = outer.span;
    }
    meet_behind(func, outer, blocks, &copy, used);
    let entry = |block| Terminator::Jump(BlockCall { block, args: outer.entry_args.clone() });
    func.blocks[enter].terminator = Some(entry(outer.header));
    func.blocks[instead].terminator = Some(entry(copy.blocks[&outer.header]));
    let mut b = Builder::at(func, outer.preheader);
    b.set_span(outer.span);
    let holds = ask(&mut b);
    let to = |block| BlockCall { block, args: vec![] };
    func.blocks[outer.preheader].terminator =
        Some(Terminator::Branch(holds, to(enter), to(instead)));
    copy
}
