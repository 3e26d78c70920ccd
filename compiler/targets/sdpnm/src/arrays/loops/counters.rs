//! Counters of 8 and 16 bits that wrap before their loop ends for some bounds only, as that of
//! `for (uint16_t i = 0; i <= n; i++)` for the greatest `n`: the loop stands twice, and the core asks before it. Where
//! it ends without that, its counter is a word (`widen.rs` of `compiler/opt`); otherwise it is as it was.

use std::collections::BTreeSet;

use nbcc_analysis::LoopForest;
use nbcc_ir::{Block, Cfg, Dominators, Function, Op};
use nbcc_opt::widen;

use super::divisors::otherwise;
use super::merge::enter_by_jump;
use crate::arrays::facts::shape::Shape;

/// Instructions of a loop at most: they stand twice.
const MAX_INSTRUCTIONS: usize = 2000;

/// Asks before such loops, the outermost first; whether there were some.
pub fn run(func: &mut Function) -> bool {
    let mut done = BTreeSet::new();
    let mut changed = false;
    while let Some(header) = next(func, &mut done) {
        changed |= twice(func, header).is_some();
    }
    changed
}

fn next(func: &Function, done: &mut BTreeSet<Block>) -> Option<Block> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let mut loops: Vec<_> = forest.loops.keys().collect();
    loops.sort_by_key(|&l| forest.loops[l].depth);
    let is_one = |&l: &_| {
        let header = forest.loops[l].header;
        let sizes = || forest.blocks(l).into_iter().map(|block| func.blocks[block].insts.len());
        !func.blocks[header].cold
            && done.insert(header)
            && sizes().sum::<usize>() <= MAX_INSTRUCTIONS
            && widen::question(func, header).is_some()
    };
    loops.into_iter().find(is_one).map(|l| forest.loops[l].header)
}

fn twice(func: &mut Function, header: Block) -> Option<()> {
    enter_by_jump(func, header);
    let question = widen::question(func, header)?;
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let l = forest.headed_by(header)?;
    let outer = Shape::uncounted(func, &cfg, &forest, l).ok()?;
    otherwise(func, &outer, &forest.blocks(l), |b| {
        let limit = b.i32(question.limit);
        b.value(Op::Icmp(question.cond, question.bound, limit))
    });
    widen::run(func);
    Some(())
}
