//! Which kernels are better not merged: those that run most of a program's instructions, which have
//! all their constants for themselves.

use std::collections::BTreeSet;

use nbcc_analysis::loops::LoopForest;
use nbcc_ir::{Block, Cfg, Dominators, Function, Op};

use crate::lower::Kernel;

/// How often a loop runs of which that is not known.
const UNKNOWN_TRIPS: u64 = 8;

/// The candidates that run most instructions, of no more than `room` instructions in all.
pub fn busiest(kernels: &[Kernel], candidates: &[usize], room: usize) -> BTreeSet<usize> {
    let mut order: Vec<(u64, usize)> =
        candidates.iter().map(|&number| (work(&kernels[number].func), number)).collect();
    order.sort_by_key(|&(work, number)| (std::cmp::Reverse(work), number));
    let mut room = room;
    let mut taken = BTreeSet::new();
    for (_, number) in order {
        let func = &kernels[number].func;
        let size: usize = func.layout.iter().map(|&block| insts(func, block)).sum();
        if size <= room {
            room -= size;
            taken.insert(number);
        }
    }
    taken
}

/// Instructions of a block, constants not counted.
fn insts(func: &Function, block: Block) -> usize {
    let insts = func.blocks[block].insts.iter();
    insts.filter(|&&inst| !matches!(func.insts[inst].op, Op::Const(..))).count()
}

/// How many instructions a function runs.
fn work(func: &Function) -> u64 {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let runs = |block: Block| {
        let mut at = forest.innermost(block);
        let mut runs = 1u64;
        while let Some(l) = at {
            let info = &func.blocks[forest.loops[l].header].loop_info;
            let trips = info.as_ref().and_then(|info| info.trips).unwrap_or(UNKNOWN_TRIPS);
            runs = runs.saturating_mul(trips);
            at = forest.loops[l].parent;
        }
        runs
    };
    let work = |&block: &Block| runs(block).saturating_mul(insts(func, block) as u64);
    func.layout.iter().map(work).fold(0, u64::saturating_add)
}
